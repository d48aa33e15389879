/** Host and port from what was pasted: a URL, `host:port`, or a host. The hub checks them. */
export function pastedTarget(text: string, protocol: string): { host: string; port?: number; protocol: string } {
  const trimmed = text.trim()
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? URL.parse(trimmed) : null
  const [, bracketed, named, digits] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(url ? url.host : trimmed) ?? []
  const host = bracketed ?? named ?? trimmed
  return { host, ...(digits !== undefined && { port: Number(digits) }), protocol }
}
