/** Headers that only the HTTP client may set, because forged ones allow request smuggling (RFC 9112 section 11.2). */
export const connectionHeaders = [
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'proxy-authorization',
  'proxy-connection',
] as const
