import { failureOf } from '../../core/net/fetch-failure'
import type { PinMismatch } from '../../core/net/pinned-fetch'

/** Where a hub is, and how its certificate is verified. */
export interface HubAddress {
  hub: string
  pin: string | null
}

/** A request to the hub. The hub may take `waitMs`; at most `maxBodyBytes` of its response are read. */
interface Asked {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: Uint8Array<ArrayBuffer> | null
  isOnNewConnection?: boolean
  waitMs: number
  maxBodyBytes: number
}

/** A complete response, not compressed. */
interface Received {
  status: number
  headers: Headers
  body: Uint8Array
}

/** There was no complete response. The message is a sentence. */
export class HubUnreachable extends Error {
  override readonly name = 'HubUnreachable'
}

/**
 * Sends a request to the hub. The certificate is verified as usual, or is the pinned one. Redirects are not followed. Proxies from the
 * environment are used.
 * @throws HubUnreachable
 */
export async function fetchHub({ hub, pin }: HubAddress, asked: Asked): Promise<Received> {
  // Decompressed, a small response could take all memory.
  const headers = { ...asked.headers, 'Accept-Encoding': 'identity' }
  const { method, path, body, isOnNewConnection = false, waitMs, maxBodyBytes } = asked
  const url = new URL(path, hub)
  const timeout = AbortSignal.timeout(waitMs)
  let stage: 'connecting' | 'reading' = 'connecting'
  try {
    const response =
      pin === null
        ? await fetch(url, {
            ...{ method, headers, body, redirect: 'manual', signal: timeout, keepalive: !isOnNewConnection, decompress: false },
            // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not disable verification.
            ...(url.protocol === 'https:' && { tls: { rejectUnauthorized: true } }),
          })
        : await fetchPinnedHub(url, pin, { ...asked, headers, signal: timeout })
    stage = 'reading'
    const encoding = response.headers.get('content-encoding') ?? 'identity'
    if (encoding.toLowerCase() !== 'identity')
      throw new HubUnreachable('The response is compressed, although the agent didn’t ask for that.')
    return { status: response.status, headers: response.headers, body: await bodyOf(response, maxBodyBytes) }
  } catch (error) {
    if (error instanceof HubUnreachable) throw error
    if (timeout.aborted) throw new HubUnreachable('The request timed out.')
    const { code, message } = error as PinMismatch
    throw new HubUnreachable(code === 'PIN_MISMATCH' ? message : failureOf(error, stage, url.protocol === 'https:').message)
  }
}

/** Loaded only by agents that pin a certificate: the modules it needs take 5 MB of memory. */
async function fetchPinnedHub(url: URL, pin: string, { method, headers, body, signal }: Asked & { signal: AbortSignal }) {
  const { fetchPinned } = await import('../../core/net/pinned-fetch')
  const { hostname, host } = url
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  const target = { url, address, host: address, family: 4, port: Number(url.port || 443), listed: false } as const
  return await fetchPinned(target, pin, { method, headers: new Headers({ ...headers, host }), body, signal }, () => {})
}

async function bodyOf(
  response: Pick<Response, 'headers'> & { body: AsyncIterable<Uint8Array> | null; bytes?: () => Promise<Uint8Array> },
  maxBytes: number,
): Promise<Uint8Array> {
  const tooLarge = () => new HubUnreachable(`The response is larger than ${maxBytes} bytes.`)
  const length = response.headers.get('content-length')
  if (Number(length) > maxBytes) throw tooLarge()
  // Without a stream, the agent needs 2 MB less memory. The length doesn’t count if the body is in chunks (RFC 9112 section 6.3).
  if (length !== null && !response.headers.has('transfer-encoding') && response.bytes) return await response.bytes()
  const chunks: Uint8Array[] = []
  let seen = 0
  for await (const chunk of response.body ?? []) {
    seen += chunk.byteLength
    if (seen > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
