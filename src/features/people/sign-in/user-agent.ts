// The order matters: Opera, Edge and Samsung Internet also contain “Chrome”, and all of these contain “Safari”.
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
// Android also contains “Linux”; iPads and iPhones contain “like Mac OS X”.
const systems: [pattern: RegExp, name: string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Browser and system in a User-Agent header (RFC 9110 section 10.1.5), such as `Firefox on Linux`; null if unknown. */
export function clientOf(userAgent: string): string | null {
  const [program, system] = [programs, systems].map(known => known.find(([pattern]) => pattern.test(userAgent))?.[1])
  return program && system ? `${program} on ${system}` : (program ?? system ?? null)
}
