import { Elysia, type AnyElysia } from 'elysia'
import { sessionCookieHeader } from '../../access/cookies'
import { callerAddress, requestId, type Peer } from '../../access/door'
import { beginSession, sessionSeconds } from '../../access/sessions'
import { findUser } from '../../access/users'
import { constantTimeEqual, encodeBase64url } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import type { Hub } from '../../core/hub'

/** A way into the demo without a password. */
export interface SignInLink {
  /** Below the address of the hub. */
  path: string
  pages: readonly AnyElysia[]
}

/**
 * A link that signs somebody in, once: its code is as hard to guess as a session's. Nobody but the demo has it, whose owner owns
 * nothing else.
 */
export function signInLink(email: string): SignInLink {
  let code: string | null = encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
  const used = async ({ request, params, server, hub }: Asked): Promise<Response> => {
    if (code === null || !constantTimeEqual(params.code, code)) return redirect('/login')
    code = null
    const user = await findUser(hub.read, email)
    const { cookie } = await beginSession(nobody(hub, request, server), user!, request)
    return redirect('/', sessionCookieHeader(hub, cookie, sessionSeconds))
  }
  return {
    path: `/demo/${code}`,
    pages: [new Elysia({ name: 'demo-sign-in' }).get('/demo/:code', (context: unknown) => used(context as Asked))],
  }
}

interface Asked {
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

/** Who has not said who they are. */
const nobody = (hub: Hub, request: Request, server: Peer | null): Ctx => ({
  hub,
  workspaceId: '',
  sessionId: null,
  actor: { type: 'anonymous', id: '', name: null, hint: null },
  context: {
    ip: callerAddress(hub, request, server),
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
