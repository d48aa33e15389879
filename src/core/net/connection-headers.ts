/** Header fields that describe one connection and one body, which only the client knows: forged ones split requests (RFC 9112, 11.2). */
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
