/**
 * Derives the names of the browser and system from a `User-Agent`, for the list of devices. The header is not verified.
 */

export interface ClientName {
  /** Empty: unknown. */
  browser: string
  /** Empty: unknown. */
  system: string
}

/** The header of many browsers also names other browsers: the first match in this order counts. */
const BROWSERS: ReadonlyArray<readonly [string, RegExp]> = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|Chromium)\//],
  ['Safari', /\bSafari\//],
]
const SYSTEMS: ReadonlyArray<readonly [string, RegExp]> = [
  ['Tizen', /\bTizen\b/],
  ['webOS', /\b(Web0S|webOS)\b/],
  ['iPad', /\biPad\b/],
  ['iPhone', /\biPhone\b/],
  ['Android', /\bAndroid\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac(intosh| OS X)\b/],
  ['Linux', /\bLinux\b/],
]
/** The name of a program: `curl/8.5.0`. */
const PROGRAM = /^(?!Mozilla\b)[\w.-]{1,40}/

export function clientNameOf(agent: string | undefined): ClientName {
  const text = (agent ?? '').slice(0, 500)
  const named = (names: typeof BROWSERS) => names.find(([, mark]) => mark.test(text))?.[0]
  return { browser: named(BROWSERS) ?? PROGRAM.exec(text)?.[0] ?? '', system: named(SYSTEMS) ?? '' }
}
