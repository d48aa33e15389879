import { addUser } from '../../src/features/people/users'
import type { World } from '../support/world'

/** The authentication headers of a client, and the secrets in them. */
export interface Credential {
  headers(method: string): [name: string, value: string][]
  secrets: string[]
  /** Signs in again after the session has ended. */
  again?(): Promise<void>
}

const bearer = (token: string): Credential => ({ headers: () => [['authorization', `Bearer ${token}`]], secrets: [token] })

/** All kinds of clients of a hub, the owner first. */
export async function callersOf({ hub, acme, rival, readOnly, scoped, anonymous }: World): Promise<Record<string, Credential>> {
  const revoked = await acme.call('POST', '/v1/tokens', { name: 'revoked', mode: 'full' })
  await acme.call('DELETE', `/v1/tokens/${revoked.body.id}`)
  const password = 'correct horse battery'
  let people = 0
  const addOwner = () =>
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
  const signIn = async () => {
    const response = await anonymous.call('POST', '/v1/sessions', { email: `ada${people}@example.com`, password })
    return response.headers.get('set-cookie')?.split(';')[0]
  }
  await addOwner()
  let cookie = ''
  const again = async () => {
    let newCookie = await signIn()
    if (!newCookie) {
      // A generated request removed the user, so add another one.
      await addOwner()
      newCookie = await signIn()
    }
    cookie = newCookie!
  }
  await again()
  return {
    owner: bearer(acme.token),
    'read-only': bearer(readOnly.token),
    scoped: bearer((await scoped('monitoring.write', 'webhooks.read')).token),
    rival: bearer(rival.token),
    anonymous: { headers: () => [], secrets: [] },
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
