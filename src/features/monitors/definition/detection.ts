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
 * Suggests monitors for a target like `suggestMonitors`. If the port doesn’t tell the protocol, tries HTTP over TLS and plain HTTP, and
 * suggests HTTP first if the server answers. Otherwise a TCP connection stays the first suggestion.
 * @throws Problem 429
 */
export async function detectMonitors(ctx: Ctx, { target }: { target: string }): Promise<{ data: MonitorSuggestionView[] }> {
  const suggestions = suggestMonitors(target)
  const isOpen = suggestions[0]?.type === 'tcp' && !/^[a-z]+:\/\//i.test(target.trim())
  if (isOpen) refuseTooManyRequests(ctx, 'monitor-detections', ctx.workspaceId, maxPerMinute)
  const url = isOpen ? await answeringUrl(ctx, suggestions[0]!.target) : null
  const data = url === null ? suggestions : [...suggestMonitors(url), ...suggestions].filter(isFirstOfType)
  const result = { data: data.map(one => ({ ...one, name: suggestions[0]?.name ?? one.name })) }
  return await change(ctx, 'monitor.detect', async () => ({ result, target: [], unchanged: true }))
}

const isFirstOfType = ({ type }: MonitorSuggestionView, place: number, all: readonly MonitorSuggestionView[]): boolean =>
  all.findIndex(one => one.type === type) === place

/** The URL at which a server answers HTTP, or null. Prefers TLS: many servers answer plain HTTP on that port with an error. */
async function answeringUrl(ctx: Ctx, hostPort: string): Promise<string | null> {
  const context = { egress: egressOf(ctx.hub), policy: await workspacePolicy(ctx.hub.read, ctx.workspaceId, false), limits }
  const ask = async (scheme: 'http' | 'https'): Promise<'answers' | 'certificate' | null> => {
    try {
      await guardedFetch({ url: `${scheme}://${hostPort}/` }, context)
      return 'answers'
    } catch (error) {
      if (!(error instanceof FetchFailed)) throw error
      return isCertificateFailure(error) ? 'certificate' : null
    }
  }
  const [secure, plain] = await Promise.all([ask('https'), ask('http')])
  // Behind a certificate that isn’t trusted, such as a self-signed one, the plain answer shows that it is HTTP.
  if (secure === 'answers' || (secure === 'certificate' && plain === 'answers')) return `https://${hostPort}/`
  return plain === 'answers' ? `http://${hostPort}/` : null
}
