import { refuseTooManyRequests } from '../../../access/limiter'
import { workspacePolicy } from '../../../access/network-policy'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { FetchFailed, isCertificateFailure } from '../../../core/net/fetch-failure'
import { guardedFetch } from '../../../core/net/guarded-fetch'
import { egressOf } from '../../../core/net/hub-egress'
import type { MonitorSuggestionView } from './shapes'
import { suggestMonitors } from './suggestions'

const maxPerMinute = 30
const limits = { connectMs: 3000, totalMs: 3000, maxBodyBytes: 1024 } as const

/**
 * Suggests monitors for a target like `suggestMonitors`. If the port doesn’t show the protocol, tries HTTP over TLS and plain HTTP, and
 * suggests HTTP first if the server answers. Otherwise a TCP connection stays the first suggestion.
 * @throws Problem 429
 */
export async function detectMonitors(ctx: Ctx, { target }: { target: string }): Promise<{ data: MonitorSuggestionView[] }> {
  const suggestions = suggestMonitors(target)
  const isOpen = suggestions[0]?.type === 'tcp' && !/^[a-z]+:\/\//i.test(target.trim())
  if (isOpen) refuseTooManyRequests(ctx, 'monitor-detections', ctx.workspaceId, maxPerMinute)
  const found = isOpen ? await ask(ctx, suggestions[0]!.target) : null
  const data = found === null ? suggestions : [...suggestMonitors(found.url), ...suggestions].filter(isFirstOfType)
  const error = found?.certificateError ?? null
  const withError = (one: MonitorSuggestionView) =>
    error !== null && (one.type === 'http' || one.type === 'tls') ? { ...one, certificate_error: error } : one
  const result = { data: data.map(withError) }
  return await change(ctx, 'monitor.detect', async () => ({ result, target: [], unchanged: true }))
}

const isFirstOfType = ({ type }: MonitorSuggestionView, place: number, all: readonly MonitorSuggestionView[]): boolean =>
  all.findIndex(one => one.type === type) === place

interface Found {
  url: string
  certificateError: string | null
}

/**
 * Finds the URL at which a server answers HTTP. Prefers TLS: many servers answer plain HTTP on that port with an error. Nothing is sent
 * to a server whose certificate isn’t trusted, but on a port that isn’t well-known, it is almost always a web server.
 */
async function ask(ctx: Ctx, hostPort: string): Promise<Found | null> {
  const context = { egress: egressOf(ctx.hub), policy: await workspacePolicy(ctx.hub.read, ctx.workspaceId, false), limits }
  const answers = async (scheme: 'http' | 'https'): Promise<Found | null> => {
    const url = `${scheme}://${hostPort}/`
    try {
      await guardedFetch({ url }, context)
      return { url, certificateError: null }
    } catch (error) {
      if (!(error instanceof FetchFailed)) throw error
      return isCertificateFailure(error) ? { url, certificateError: error.message } : null
    }
  }
  const [secure, plain] = await Promise.all([answers('https'), answers('http')])
  return secure ?? plain
}
