import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { agents } from '../../src/features/servers/agents/tables'
import { AgentDouble } from '../support/agent-double'
import { world, type World } from '../support/world'

const addServer = async (here: World, name: string): Promise<string> =>
  (await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id
const rowOf = async (here: World, { id }: AgentDouble) => (await here.hub.read.select().from(agents).where(eq(agents.id, id)))[0]!

test('an agent reports and says why it stops', async () => {
  const here = await world()
  const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'), { allow: ['collect', 'firewall'] })
  const heardAt = here.clock.now()
  expect(await rowOf(here, agent)).toMatchObject({
    ...{ state: 'reporting', version: '0.3.0', allow: ['collect', 'firewall'], stopReason: null },
    ...{ lastSeenAt: heardAt, dueAt: heardAt + 180_000 },
  })
  await agent.reports({ intervalSeconds: 10 })
  expect(await rowOf(here, agent)).toMatchObject({ intervalSeconds: 10, dueAt: heardAt + 90_000 })
  await agent.stops('reboot')
  expect(await rowOf(here, agent)).toMatchObject({ state: 'stopped', stopReason: 'reboot', dueAt: heardAt + 300_000 })
  await agent.stops('shutdown')
  expect(await rowOf(here, agent)).toMatchObject({ state: 'stopped', stopReason: 'shutdown', dueAt: heardAt + 600_000 })
  await agent.reports()
  expect(await rowOf(here, agent)).toMatchObject({ state: 'reporting', stopReason: null })
})
