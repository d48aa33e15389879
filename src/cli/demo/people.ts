import type { Role } from '../../access/tables'
import { setupToken } from '../../access/users'
import { encodeBase64url } from '../../core/crypto'
import type { Past } from './past'
import { dayMs } from './telling'

/** Somebody, or something, that works with the hub. */
export interface Caller {
  /** Calls the API, and gives the body of the answer. @throws Error for one that is a problem */
  call(method: string, path: string, body?: unknown): Promise<any>
}

/** Who works with it from the dashboard. */
export interface Person extends Caller {
  name: string
  email: string
}

export interface People {
  /** Owner and operator: whoever looks at the demo signs in as them. */
  ada: Person & { password: string }
  grace: Person
  linus: Person
  mira: Person
}

/** Sets the installation up and lets everybody join it. */
export async function join(past: Past): Promise<People> {
  const ada = { name: 'Ada Lindqvist', email: 'ada@kestrel.example', password: newPassword() }
  await past.call('POST', '/v1/setup', {}, { ...ada, token: await setupToken(past.hub) })
  const owner = person(past, ada)
  const workspace = (await owner.call('GET', '/v1/sessions/current')).workspace_id as string
  await owner.call('PATCH', `/v1/workspaces/${workspace}`, { name: 'Kestrel Outdoor' })
  const invited = async (name: string, email: string, role: Role) => {
    const { code } = await owner.call('POST', '/v1/invitations', { email, role })
    const password = newPassword()
    await past.call('POST', '/v1/invitations/accept', {}, { code, name, password })
    return person(past, { name, email, password })
  }
  return {
    ada: { ...owner, password: ada.password },
    grace: await invited('Grace Okafor', 'grace@kestrel.example', 'admin'),
    linus: await invited('Linus Berg', 'linus@kestrel.example', 'member'),
    mira: await invited('Mira Tanaka', 'mira@kestrel.example', 'viewer'),
  }
}

function person(past: Past, { name, email, password }: { name: string; email: string; password: string }): Person {
  let cookie: string | null = null
  let usedAt = 0
  return {
    name,
    email,
    async call(method, path, body) {
      // A session that nobody uses has an end.
      if (cookie === null || past.clock.now() - usedAt > 20 * dayMs) {
        const { headers } = await past.call('POST', '/v1/sessions', {}, { email, password })
        cookie = headers.get('set-cookie')!.split(';')[0]!
      }
      usedAt = past.clock.now()
      return (await past.call(method, path, { cookie }, body)).body
    },
  }
}

const newPassword = (): string => encodeBase64url(crypto.getRandomValues(new Uint8Array(12)))
