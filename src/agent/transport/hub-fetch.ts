import { failureOf } from '../../core/net/fetch-failure'
import type { PinMismatch } from '../../core/net/pin-mismatch'
import type { Asked, Received } from './fetch-pinned'

/** Where a hub is, and how its certificate is verified. */
export interface HubAddress {
  hub: string
  pin: string | null
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
  const url = new URL(asked.path, hub)
  const timeout = AbortSignal.timeout(asked.waitMs)
  let stage: 'connecting' | 'reading' = 'connecting'
  const onResponse = () => void (stage = 'reading')
  try {
    const received =
      pin === null
        ? await fetchVerified(url, { ...asked, headers, signal: timeout }, onResponse)
        : await fetchPinnedHub(url, pin, { ...asked, headers, signal: timeout }, onResponse)
    const encoding = received.headers.get('content-encoding') ?? 'identity'
    if (encoding.toLowerCase() !== 'identity')
      throw new HubUnreachable('The response is compressed, although the agent didn’t ask for that.')
    return received
  } catch (error) {
    if (error instanceof HubUnreachable) throw error
    if (timeout.aborted) throw new HubUnreachable('The request timed out.')
    const { code, message } = error as PinMismatch
    throw new HubUnreachable(code === 'PIN_MISMATCH' ? message : failureOf(error, stage, url.protocol === 'https:').message)
  }
}

type Sent = Asked & { signal: AbortSignal }

async function fetchVerified(url: URL, asked: Sent, onResponse: () => void): Promise<Received> {
  const { method, headers, body, signal, isOnNewConnection = false, maxBodyBytes } = asked
  const response = await fetch(url, {
    ...{ method, headers, body, redirect: 'manual', signal, keepalive: !isOnNewConnection, decompress: false },
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not disable verification.
    ...(url.protocol === 'https:' && { tls: { rejectUnauthorized: true } }),
  })
  onResponse()
  return { status: response.status, headers: response.headers, body: await bodyOf(response, maxBodyBytes) }
}

/** Loaded only by agents that pin a certificate. */
async function fetchPinnedHub(url: URL, pin: string, asked: Sent, onResponse: () => void): Promise<Received> {
  const { fetchPinned } = await import('./fetch-pinned')
  return await fetchPinned(url, pin, asked, { tooLarge: () => tooLarge(asked.maxBodyBytes), onResponse })
}

const tooLarge = (maxBytes: number) => new HubUnreachable(`The response is larger than ${maxBytes} bytes.`)

async function bodyOf(response: Response, maxBytes: number): Promise<Uint8Array> {
  const length = response.headers.get('content-length')
  if (Number(length) > maxBytes) throw tooLarge(maxBytes)
  // Without a stream, the agent needs 2 MB less memory. The length doesn’t count if the body is in chunks (RFC 9112 section 6.3).
  if (length !== null && !response.headers.has('transfer-encoding')) return await response.bytes()
  const chunks: Uint8Array[] = []
  let seen = 0
  for await (const chunk of response.body ?? []) {
    seen += chunk.byteLength
    if (seen > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
