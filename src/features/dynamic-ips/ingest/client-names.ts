/** How known clients call themselves in the User-Agent header, and their names. */
const known: [start: string, name: string][] = [
  ['fritz!box', 'FRITZ!Box'],
  ['opnsense', 'OPNsense'],
  ['pfsense', 'pfSense'],
  ['inadyn', 'inadyn'],
  ['ddclient', 'ddclient'],
  ['curl', 'curl'],
  ['wget', 'Wget'],
  ['mikrotik', 'RouterOS'],
  ['synology', 'Synology DSM'],
  ['openwrt', 'OpenWrt'],
]

/** The name of a client: of a known one, or the first word of its User-Agent header. Empty if it has none. */
export function clientName(userAgent: string | null): string {
  const text = (userAgent ?? '').trim()
  const found = known.find(([start]) => text.toLowerCase().startsWith(start))
  return found?.[1] ?? /^[^\s/(]+/.exec(text)?.[0].slice(0, 60) ?? ''
}
