import type { Role } from '../../access/tables'
import { encodeBase64url } from '../../core/crypto'
import { setupToken } from '../../features/people/sign-up/setup'
import type { Simulation } from './simulation'
import { dayMs } from './time-units'

/** A person or program that calls the API. */
export interface Caller {
  /** Calls the API and returns the response body. @throws Error for an error response */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>
}

/** A user of the dashboard. */
export interface Person extends Caller {
  name: string
  email: string
}

export interface People {
  /** Owner and operator. Visitors of the demo sign in as this user. */
  ada: Person & { password: string }
  grace: Person
  linus: Person
  mira: Person
}

/** Completes the setup and adds all users. */
export async function createPeople(simulation: Simulation): Promise<People> {
  const ada = { name: 'Ada Lindqvist', email: 'ada@kestrel.example', password: newPassword() }
  await simulation.call('POST', '/v1/setup', {}, { ...ada, token: await setupToken(simulation.hub) })
  const owner = person(simulation, ada)
  const workspace = (await owner.call('GET', '/v1/sessions/current')).workspace_id as string
  await owner.call('PATCH', `/v1/workspaces/${workspace}`, { name: 'Kestrel Outdoor' })
  const invited = async (name: string, email: string, role: Role) => {
    const { code } = await owner.call('POST', '/v1/invitations', { email, role })
    const password = newPassword()
    await simulation.call('POST', '/v1/invitations/accept', {}, { code, name, password })
    return person(simulation, { name, email, password })
  }
  return {
    ada: { ...owner, password: ada.password },
    grace: await invited('Grace Okafor', 'grace@kestrel.example', 'admin'),
    linus: await invited('Linus Berg', 'linus@kestrel.example', 'member'),
    mira: await invited('Mira Tanaka', 'mira@kestrel.example', 'viewer'),
  }
}

function person(simulation: Simulation, { name, email, password }: { name: string; email: string; password: string }): Person {
  let cookie: string | null = null
  let usedAt = 0
  return {
    name,
    email,
    async call(method, path, body, headers) {
      // Unused sessions expire.
      if (cookie === null || simulation.clock.now() - usedAt > 20 * dayMs) {
        const { headers } = await simulation.call('POST', '/v1/sessions', {}, { email, password })
        cookie = headers.get('set-cookie')!.split(';')[0]!
      }
      usedAt = simulation.clock.now()
      return (await simulation.call(method, path, { cookie, ...(headers && { headers }) }, body)).body
    },
  }
}

const newPassword = (): string => encodeBase64url(crypto.getRandomValues(new Uint8Array(12)))
