/** Error codes of the API, version 4 (developers.cloudflare.com/api), that don’t depend on what a request is about. */
export const cloudflareCodes: Readonly<Record<'throttled' | 'credentials' | 'unrouted', ReadonlySet<number>>> = {
  // “Please wait and consider throttling your request speed”, and “Rate limited” without status 429.
  throttled: new Set([971, 10_429]),
  // Invalid or missing headers; invalid or expired tokens, or not allowed from this address; too many of those.
  credentials: new Set([6003, 9103, 9106, 9109, 10_000, 10_001, 10_502]),
  // “Could not route to”, for ids that don't exist or that the token can't access.
  unrouted: new Set([7000, 7003]),
}

/** Clients that exceed the limit are blocked for five minutes (Cloudflare, Rate limits). */
export const cloudflareBlockedMs = 5 * 60_000
