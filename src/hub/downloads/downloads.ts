import { sign } from 'node:crypto'
import { Elysia, type AnyElysia } from 'elysia'
import { countRequest } from '../../access/limiter'
import { agentParts, noCredentials } from '../../access/rate-limits'
import { callerIp, type Peer } from '../../api/serve'
import type { Hub } from '../../core/hub'
import { notFound } from '../../core/problem'
import { agentFiles, manifestOf } from '../../features/servers/agents/agent-files'
import { selfSignedCertificate } from '../../features/servers/agents/hub-certificate'
import { hubKey } from '../../features/servers/agents/hub-key'
import installer from '../../features/servers/agents/install-agent.sh' with { type: 'text' }
import { shellAgent } from '../../features/servers/agents/shell/shell-agent'
import { pieceBytes } from '../../wire/agent-version'
import { StaticFile } from '../static-file'

interface DownloadRequest {
  request: Request
  params: { platform: string }
  server: Peer | null
  hub: Hub
}

const script = new StaticFile(installer, 'text/x-shellscript; charset=utf-8')
const headers = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' }

/** What a server needs to install the agent: a script, the programs, and their list, which the hub signs. Nothing of it is secret. */
export function downloadRoutes(): AnyElysia {
  const limited =
    (respond: (context: DownloadRequest) => Response | Promise<Response>, ofParts: typeof noCredentials = noCredentials) =>
    (context: unknown): Response | Promise<Response> => {
      const { request, hub, server } = context as DownloadRequest
      const asked = askedPart(request)
      // Otherwise, whole programs could be downloaded with the higher limit.
      const bucket = asked && asked.last - asked.first < pieceBytes ? ofParts : noCredentials
      countRequest(hub, [bucket(callerIp(hub, request, server), hub.config.anonymousPerMinute)])
      return respond(context as DownloadRequest)
    }
  const manifest = async (hub: Hub) => Buffer.from(manifestOf(await agentFiles(hub)))
  return new Elysia({ name: 'downloads' })
    .get(
      '/download/agent',
      limited(({ request }) => script.respond(request)),
    )
    .get(
      '/download/agent.sh',
      limited(
        async ({ hub }) =>
          new Response(shellAgent(await selfSignedCertificate(hub)), {
            headers: { ...headers, 'Content-Type': 'text/x-shellscript; charset=utf-8' },
          }),
      ),
    )
    .get(
      '/download/agent/manifest',
      limited(async ({ hub }) => new Response(await manifest(hub), { headers: { ...headers, 'Content-Type': 'text/plain' } })),
    )
    .get(
      '/download/agent/manifest.sig',
      limited(
        async ({ hub }) =>
          new Response(sign(null, await manifest(hub), hubKey(hub)), {
            headers: { ...headers, 'Content-Type': 'application/octet-stream' },
          }),
      ),
    )
    .get(
      '/download/agent/:platform',
      limited(async ({ params, request, hub }) => {
        const file = (await agentFiles(hub)).find(({ platform }) => platform === params.platform)
        if (!file) throw notFound('path')
        return partOf(Bun.file(file.path), askedPart(request))
      }, agentParts),
    )
}

/** The part of a file that agents ask for when they are updated: `bytes=<first>-<last>` (RFC 9110 section 14). Other ranges are ignored. */
function askedPart(request: Request): { first: number; last: number } | null {
  const asked = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(request.headers.get('range') ?? '')
  const [first, last] = [Number(asked?.[1]), Number(asked?.[2])]
  return asked && first <= last ? { first, last } : null
}

/** A part of a file, or all of it. */
function partOf(file: ReturnType<typeof Bun.file>, asked: ReturnType<typeof askedPart>): Response {
  const binary = { ...headers, 'Content-Type': 'application/octet-stream' }
  if (!asked) return new Response(file, { headers: binary })
  if (asked.first >= file.size)
    return new Response(null, { status: 416, headers: { ...headers, 'Content-Range': `bytes */${file.size}` } })
  const { first, last } = { ...asked, last: Math.min(asked.last, file.size - 1) }
  return new Response(file.slice(first, last + 1), {
    status: 206,
    headers: { ...binary, 'Content-Range': `bytes ${first}-${last}/${file.size}` },
  })
}
