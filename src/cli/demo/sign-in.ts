import { sessionCookieHeader, sessionSeconds } from '../../access/sessions'
import { Elysia, type AnyElysia } from 'elysia'
import { callerIp, requestId, type Peer } from '../../api/serve'
import { createSession } from '../../features/people/sign-in/sessions'
import { findUser } from '../../features/people/users'
import { constantTimeEqual, encodeBase64url } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import type { Hub } from '../../core/hub'

/** Signs in to the demo without a password. */
interface SignInLink {
  /** Relative to the URL of the hub. */
  path: string
  pages: readonly AnyElysia[]
}

/** A link that signs in a user once. Its code has as much entropy as a session. Only the demo serves such a link. */
export function signInLink(email: string): SignInLink {
  let code: string | null = encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
  const use = async ({ request, params, server, hub }: RouteContext): Promise<Response> => {
    if (code === null || !constantTimeEqual(params.code, code)) return redirect('/login')
    code = null
    const user = await findUser(hub.read, email)
    const { cookie } = await createSession(anonymous(hub, request, server), user!, request)
    return redirect('/', sessionCookieHeader(hub, cookie, sessionSeconds))
  }
  return {
    path: `/demo/${code}`,
    pages: [new Elysia({ name: 'demo-sign-in' }).get('/demo/:code', (context: unknown) => use(context as RouteContext))],
  }
}

interface RouteContext {
  request: Request
  params: { code: string }
  server: Peer | null
  hub: Hub
}

const redirect = (to: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: {
      Location: to,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      ...(cookie && { 'Set-Cookie': cookie }),
    },
  })

/** The context of an unauthenticated request. */
const anonymous = (hub: Hub, request: Request, server: Peer | null): Ctx => ({
  hub,
  workspaceId: '',
  sessionId: null,
  actor: { type: 'anonymous', id: '', name: null, hint: null },
  context: {
    ip: callerIp(hub, request, server),
    user_agent: request.headers.get('user-agent')?.slice(0, 200) ?? null,
    request_id: requestId(request),
    idempotency_key: null,
    channel: 'dashboard',
  },
  permissions: new Set(),
  resourceIds: null,
  operator: false,
  limits: {},
  planId: '',
  ifMatch: null,
  idempotency: null,
})
