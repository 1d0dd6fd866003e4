#!/usr/bin/env python3
"""Opens a page of `nandlab report` in headless Chromium as a reader would, and checks what nobody sees in its bytes.

    pip install selenium && apt-get install chromium chromium-driver
    nandlab report results -o page.html && scripts/report_browser.py page.html [FOLDER FOR PICTURES]

From the file system: no request but the page, nothing in the console, every figure there with scripts off, zoom and pan by
mouse and by keyboard alone, light and dark, wide and narrow. Ends with 1 at the first thing that is not so.
"""

import json
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def browser(dark=False, width=1200, scripts=True):
    options = webdriver.ChromeOptions()
    for flag in QUIET + [f"--window-size={width},1400"] + (["--force-dark-mode"] if dark else []):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    return driver


def opened(driver, page):
    driver.get(page.resolve().as_uri())
    return driver


def requests(driver):
    sent = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in sent if event["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith(("data:", "blob:", "chrome"))]


def shown_scales(driver, figure):
    """Texts of the axes are painted, so that what is shown is told by the pixels of the canvas."""
    return driver.execute_script("return arguments[0].querySelector('canvas')?.toDataURL()", figure)


def check(what, holds):
    print("ok  " if holds else "FAIL", what)
    if not holds:
        sys.exit(1)


def main(page, folder):
    pictures = pathlib.Path(folder) if folder else None
    for dark in (False, True):
        for width in (1200, 420):
            driver = opened(browser(dark, width), page)
            name = f"{'dark' if dark else 'light'}-{width}"
            check(f"{name}: page does not scroll sideways",
                  driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"))
            if pictures:
                driver.save_screenshot(str(pictures / f"{name}.png"))
            figures = driver.find_elements(By.CSS_SELECTOR, "figure[data-zoom]")
            check(f"{name}: {len(figures)} figures can be zoomed", figures)
            for number, figure in enumerate(figures):
                section = figure.find_element(By.XPATH, "..").get_attribute("id")
                button = figure.find_element(By.TAG_NAME, "button")
                # By keyboard alone: focus, Enter, then the keys.
                driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", button)
                driver.switch_to.active_element.send_keys(Keys.ENTER)
                WebDriverWait(driver, 20).until(lambda _: figure.find_elements(By.TAG_NAME, "canvas"))
                whole = shown_scales(driver, figure)
                box = driver.switch_to.active_element
                seen = [whole]
                for key in ("+", Keys.ARROW_RIGHT, Keys.ARROW_UP, "-", "0"):
                    box.send_keys(key)
                    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
                    seen.append(shown_scales(driver, figure))
                check(f"{name}: {section}: each key moves, 0 shows the whole again",
                      all(a != b for a, b in zip(seen, seen[1:])) and seen[-1] == whole)
                over = figure.find_element(By.CSS_SELECTOR, ".u-over")
                drag = lambda: ActionChains(driver).move_to_element_with_offset(over, -60, -60)
                for what, mouse in (
                    ("drag zooms", lambda: drag().click_and_hold().move_by_offset(90, 90).release()),
                    ("Shift and drag moves", lambda: drag().key_down(Keys.SHIFT).click_and_hold().move_by_offset(40, 30)
                        .release().key_up(Keys.SHIFT)),
                ):
                    before = shown_scales(driver, figure)
                    mouse().perform()
                    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
                    check(f"{name}: {section}: {what}", shown_scales(driver, figure) != before)
                ActionChains(driver).double_click(over).perform()
                driver.execute_script("arguments[0].querySelector('.zoom').focus()", figure)
                driver.switch_to.active_element.send_keys("0")
                driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
                if pictures and number in (0, len(figures) - 1):
                    figure.screenshot(str(pictures / f"{name}-{section}.png"))
                button.click()
                check(f"{name}: {section}: closes", not figure.find_elements(By.TAG_NAME, "canvas"))
            check(f"{name}: no request but the page", requests(driver) == [page.resolve().as_uri()])
            said = [entry["message"] for entry in driver.get_log("browser")]
            check(f"{name}: nothing in the console {said}", not said)
            driver.quit()
    driver = opened(browser(scripts=False), page)
    svgs = driver.find_elements(By.CSS_SELECTOR, "figure svg")
    check(f"scripts off: all {len(svgs)} figures are shown", svgs and all(svg.is_displayed() for svg in svgs))
    check("scripts off: no button without use", not driver.find_elements(By.CSS_SELECTOR, "figure button"))
    driver.quit()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else None)
