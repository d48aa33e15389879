import type { Hub } from '../../../core/hub'
import { EgressRefused, type NetworkPolicy } from '../../../core/net/egress'
import { FetchFailed } from '../../../core/net/fetch-failure'
import { guardedFetch } from '../../../core/net/guarded-fetch'
import { egressOf } from '../../../core/net/hub-egress'
import { maxCrlBytes } from '../../../core/x509/crl'

/** A revocation list can’t be used. The message is a sentence for users. */
export class CrlUnusable extends Error {
  override name = 'CrlUnusable'
}

const maxRedirects = 3

/**
 * Downloads a revocation list. Each address is checked against the network policy.
 * @param totalMs time limit of all requests together
 * @returns what the server sent, and the addresses that led there
 * @throws CrlUnusable
 */
export async function downloadCrl(
  hub: Hub,
  url: string,
  { policy, totalMs }: { policy: NetworkPolicy; totalMs: number },
): Promise<{ bytes: Uint8Array; visited: string[] }> {
  const visited = [url]
  const until = performance.now() + totalMs
  for (;;) {
    const limits = { totalMs: timeLeft(until), maxBodyBytes: maxCrlBytes, overflow: 'fail' as const }
    const { status, headers, body } = await guardedFetch(
      { url: visited.at(-1)! },
      { egress: egressOf(hub), policy, limits },
    ).catch(failed)
    if (status === 200) return { bytes: body, visited }
    const location = status >= 301 && status <= 308 ? headers.get('location') : null
    if (location === null)
      throw new CrlUnusable(`The revocation list can’t be downloaded: the server responded with status ${status}.`)
    if (visited.length > maxRedirects || !URL.canParse(location, visited.at(-1)))
      throw new CrlUnusable('The revocation list can’t be downloaded: the server redirects without end.')
    visited.push(new URL(location, visited.at(-1)).href)
  }
}

/** How much time is left (ms, at least 1). @param until as of `performance.now()` @throws CrlUnusable if there is none */
export function timeLeft(until: number): number {
  const leftMs = until - performance.now()
  if (leftMs <= 0) throw new CrlUnusable('The revocation list can’t be downloaded in time.')
  return Math.ceil(leftMs)
}

/** Checks whether a workspace may use a list that was downloaded for another one. @throws CrlUnusable */
export async function vetVisited(hub: Hub, visited: readonly string[], policy: NetworkPolicy): Promise<void> {
  for (const url of visited) await egressOf(hub).vetUrl(url, policy).catch(failed)
}

function failed(error: unknown): never {
  if (!(error instanceof FetchFailed || error instanceof EgressRefused)) throw error
  throw new CrlUnusable(`The revocation list can’t be downloaded. ${error.message}`)
}
