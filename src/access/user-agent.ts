// The order matters: browsers name those they descend from. Opera, Edge and Samsung's say Chrome as well, and all of these say Safari.
const programs: [pattern: RegExp, name: string][] = [
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
// Android says Linux, and iPads and iPhones say “like Mac OS X”.
const systems: [pattern: RegExp, name: string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** What a User-Agent header (RFC 9110 section 10.1.5) calls itself, such as `Firefox on Linux`; null where nothing in it is known. */
export function clientOf(userAgent: string): string | null {
  const [program, system] = [programs, systems].map(known => known.find(([pattern]) => pattern.test(userAgent))?.[1])
  return program && system ? `${program} on ${system}` : (program ?? system ?? null)
}
