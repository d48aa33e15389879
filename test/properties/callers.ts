import { addUser } from '../../src/access/users'
import type { World } from '../support/world'

/** The headers that a caller proves itself with, and what of them is secret. */
export interface Credential {
  headers(method: string): [name: string, value: string][]
  secrets: string[]
  /** Signs in again, once the session was ended. */
  again?(): Promise<void>
}

const bearer = (token: string): Credential => ({ headers: () => [['authorization', `Bearer ${token}`]], secrets: [token] })

/** All kinds of callers of one hub, the owner first. */
export async function callersOf({ hub, acme, rival, readOnly, scoped, stranger }: World): Promise<Record<string, Credential>> {
  const revoked = await acme.call('POST', '/v1/tokens', { name: 'revoked', mode: 'full' })
  await acme.call('DELETE', `/v1/tokens/${revoked.body.id}`)
  const password = 'correct horse battery'
  let people = 0
  const joins = () =>
    addUser(
      hub,
      'account.user.create',
      {
        email: `ada${++people}@example.com`,
        name: 'Ada',
        password,
        role: 'owner',
        workspaceId: acme.workspaceId,
        isOperator: false,
      },
      {
        actor: { type: 'operator', id: 'cli', name: 'cli', hint: null },
        context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' },
      },
    )
  const signsIn = async () => {
    const answer = await stranger.call('POST', '/v1/sessions', { email: `ada${people}@example.com`, password })
    return answer.headers.get('set-cookie')?.split(';')[0]
  }
  await joins()
  let cookie = ''
  const again = async () => {
    let signed = await signsIn()
    if (!signed) {
      // A request that was made up sent her away: another takes her place.
      await joins()
      signed = await signsIn()
    }
    cookie = signed!
  }
  await again()
  return {
    owner: bearer(acme.token),
    'read-only': bearer(readOnly.token),
    scoped: bearer((await scoped('monitoring.write', 'webhooks.read')).token),
    rival: bearer(rival.token),
    stranger: { headers: () => [], secrets: [] },
    revoked: bearer(revoked.body.token),
    session: {
      headers: method => [
        ['cookie', cookie],
        ...(method === 'GET'
          ? []
          : ([
              ['origin', 'http://localhost:8484'],
              ['bailiwick-csrf', '1'],
            ] as [string, string][])),
      ],
      get secrets() {
        return [cookie.split('=')[1]!]
      },
      again,
    },
  }
}
