import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AgentFolder } from '../../../test/support/agent-folder'
import { ManualClock } from '../../../test/support/manual-clock'
import { newId } from '../../core/ids'
import type { AgentCommand, CommandResult, SignedCommand } from '../../wire/agent-command'
import { publicKeyText } from '../../wire/signed'
import { maxOrderOffsetMs } from '../root/folders'
import type { System } from '../root/system'
import { HubClock } from '../transport/hub-clock'
import { HubRequestFailed, type HubClient, type HubRequest } from '../transport/hub-client'

import { Commands, commandsPath, resultsPath } from './commands'
import { OrderBox } from './order-box'
import { SeenCommands } from './seen-commands'

/** A server on which nothing happens. */
class Recorded implements System {
  readonly done: string[] = []
  async run(args: string[]) {
    this.done.push(args.join(' '))
    return { isSuccess: true, output: 'active' }
  }
  async startTimer(_: string, seconds: number, args: string[]) {
    this.done.push(`after ${seconds} s: ${args.join(' ')}`)
    return { isSuccess: true, output: '' }
  }
  async stopTimer() {}
}

const clock = new ManualClock()
let here: AgentFolder
let system: Recorded
let results: CommandResult[]
let collected: number
let watched: number[]
beforeEach(() => {
  here = new AgentFolder(clock.now)
  system = new Recorded()
  results = []
  collected = 0
  watched = []
})
afterEach(() => here[Symbol.dispose]())

const send = async ({ path, body }: HubRequest) => {
  if (path === resultsPath) results.push(body as CommandResult)
  return { status: 200, body: {}, sentAt: 0 }
}

/** The agent, without its root half. @param asRoot runs what is handed to root */
function agentHalf(
  client: Pick<HubClient, 'send'> = { send },
  asRoot: Pick<OrderBox, 'run'>['run'] = () => Promise.reject(new Error('not expected')),
) {
  return new Commands({
    ...{ client, timers: clock, random: () => 0.5, agentId: here.agentId, runId: () => 'run-1' },
    hubKey: publicKeyText(here.hubKey),
    clock: new HubClock(clock.now, clock.now),
    allow: () => here.settings().allow,
    seen: new SeenCommands(join(here.path, 'state', 'seen-commands')),
    log: here.log('agent'),
    orders: { run: asRoot },
    collect: () => void collected++,
    download: async () => {},
    removeDownload() {},
    live: seconds => void watched.push(seconds),
  })
}

/** Lets everything run that is ready to. */
const nextTurn = () => new Promise(resolve => setImmediate(resolve))

const reboot = (more: Partial<AgentCommand> = {}) => here.command('reboot', {}, more)
/** What must not be run, with the reason and whether the hub gets it. */
const refused: [string, () => SignedCommand, RegExp, tellsHub: boolean][] = [
  ['forged', () => here.sign(reboot(), generateKeyPairSync('ed25519').privateKey), /not signed by the hub/, false],
  [
    'altered',
    () => {
      const { payload, signature } = here.sign(here.command('restart_unit', { unit: 'nginx.service' }))
      return { payload: payload.replace('nginx', 'sshd'), signature }
    },
    /not signed by the hub/,
    false,
  ],
  ['expired', () => here.sign(reboot({ issued_at: clock.now() - 60_000, expires_at: clock.now() - 1 })), /expired/, true],
  [
    'from the future',
    () => here.sign(reboot({ issued_at: clock.now() + 400_000, expires_at: clock.now() + 500_000 })),
    /future/,
    true,
  ],
  ['valid for too long', () => here.sign(reboot({ expires_at: clock.now() + 700_000 })), /too long/, true],
  ['for another agent', () => here.sign(reboot({ agent_id: newId('agent') })), /for the agent agent_/, false],
  ['not allowed', () => here.sign(here.command('restart_unit', { unit: 'sshd.service' })), /doesn’t allow restart:sshd/, true],
  [
    'without an install profile',
    () => here.sign(here.command('certificate_install', { chain: '', fingerprint: '0'.repeat(64), install_profile: 'web' })),
    /doesn’t allow certificates:web/,
    true,
  ],
  ...[['../x'], ['a'], Array.from({ length: 101 }, () => 'a.example.com')].map(
    (names): [string, () => SignedCommand, RegExp, boolean] => [
      `with the names ${names[0]} × ${names.length}`,
      () => here.sign(here.command('certificate_csr', { names, key_type: 'ec-256', install_profile: 'web' })),
      /invalid parameters/,
      true,
    ],
  ),
  [
    'with a unit that is an option',
    () => here.sign(here.command('restart_unit', { unit: '--force' })),
    /invalid parameters/,
    true,
  ],
  ['of no known form', () => here.sign({ ...reboot(), name: 'run' } as never), /unknown form/, false],
  [
    'allowed by a file that others can write',
    () => {
      chmodSync(here.configFile, 0o666)
      return here.sign(reboot())
    },
    /can be written by other users/,
    true,
  ],
]

describe('what is refused', () => {
  for (const [name, make, reason, tellsHub] of refused) {
    test(`${name}: by the agent`, async () => {
      await agentHalf().handle(make())
      expect(here.lines('agent')).toEqual([expect.stringMatching(reason)])
      expect(results.map(one => one.detail)).toEqual(tellsHub ? [expect.stringMatching(reason)] : [])
    })

    test(`${name}: by the root half`, async () => {
      const id = newId('cmd')
      here.order(id, make())
      await here.obey(system)
      expect([here.lines('root'), here.lines('refused')]).toEqual([[], [expect.stringMatching(reason)]])
      expect(here.result(id)?.detail).toMatch(reason)
      expect([system.done, readdirSync(here.folders.orders)]).toEqual([[], []])
    })
  }

  test('repeated, also after a restart: by both', async () => {
    const command = reboot()
    const signed = here.sign(command)
    const order = async () => ({ outcome: 'done' as const, detail: null, output: null })
    const first = agentHalf({ send }, order)
    await first.handle(signed)
    // The hub may not have got the response.
    await first.handle(signed)
    expect(results).toEqual(Array(2).fill({ command_id: command.id, outcome: 'done', detail: null, output: null }))
    await agentHalf().handle(signed)
    expect(results).toHaveLength(2)
    expect(here.lines('agent').slice(2)).toEqual(Array(2).fill(expect.stringMatching(/received before/)))

    for (let time = 0; time < 2; time++) {
      here.order(command.id, signed)
      await here.obey(system)
    }
    expect(system.done).toEqual(['after 3 s: systemctl reboot'])
    expect([here.lines('root').length, here.lines('refused')]).toEqual([2, [expect.stringMatching(/received before/)]])
    expect(here.result(command.id)?.outcome).toBe('done')
  })

  test('by the root half: if it is not known which hub may send commands', async () => {
    chmodSync(here.pinnedFile, 0o666)
    const command = reboot()
    here.order(command.id, here.sign(command))
    await here.obey(system)
    expect([here.result(command.id)!.detail, system.done]).toEqual([expect.stringContaining('written by other users'), []])
  })

  test('by the root half: if the clock was set back, after other commands or after their IDs were forgotten', async () => {
    const real = clock.now()
    let time = real
    using server = new AgentFolder(() => time)
    const obey = async (command: AgentCommand) => {
      server.order(command.id, server.sign(command))
      await server.obey(system)
      return server.result(command.id)
    }
    const first = server.command('reboot', {})
    expect((await obey(first))?.outcome).toBe('done')
    const lost = server.command('reboot', {})
    time = real + 90_000_000
    expect((await obey(server.command('shutdown', {})))?.outcome).toBe('done')
    // A command that got lost for a short time is run.
    const late = server.command('reboot', {}, { issued_at: time - 280_000 })
    expect((await obey(late))?.outcome).toBe('done')
    time = real + 1000
    for (const old of [first, lost]) {
      rmSync(join(server.folders.results, `${old.id}.json`), { force: true })
      expect((await obey(old))?.detail).toContain('long before another one')
    }
    expect(system.done).toHaveLength(3)
  })

  test('by the root half: if the reported clock is very wrong', async () => {
    const late = reboot({ issued_at: clock.now() - 700_000, expires_at: clock.now() - maxOrderOffsetMs })
    here.order(late.id, here.sign(late), -maxOrderOffsetMs - 1)
    await here.obey(system)
    expect([here.result(late.id)!.detail, system.done]).toEqual([expect.stringContaining('clock of the server is wrong'), []])
  })
})

describe('the root half', () => {
  test('restarts units, reboots, and shuts down', async () => {
    const commands = [here.command('restart_unit', { unit: 'nginx.service' }), reboot(), here.command('shutdown', {})]
    for (const one of commands) here.order(one.id, here.sign(one))
    await here.obey(system)
    expect(system.done).toEqual([
      'systemctl restart -- nginx.service',
      'after 3 s: systemctl reboot',
      'systemctl is-active -- nginx.service',
      'after 3 s: systemctl poweroff',
    ])
    expect(here.result(commands[0]!.id)).toMatchObject({ outcome: 'done', output: 'active' })
    expect(here.lines('root')[0]).toMatch(/\| restart_unit nginx.service \| by user usr_1 Alice \| started$/)
  })

  test('runs other commands while a unit is restarted', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    system.run = async args => {
      if (args[1] === 'restart') await promise
      system.done.push(args.join(' '))
      return { isSuccess: true, output: 'active' }
    }
    const [restart, later] = [here.command('restart_unit', { unit: 'nginx.service' }), reboot()]
    here.order(restart.id, here.sign(restart))
    const obeyed = here.obey(system, clock)
    here.order(later.id, here.sign(later))
    for (let step = 0; step < 10; step++) await clock.advance(250)
    expect([system.done, here.result(restart.id)]).toEqual([['after 3 s: systemctl reboot'], null])
    expect(here.result(later.id)?.outcome).toBe('done')
    resolve()
    await obeyed
    expect(here.result(restart.id)).toMatchObject({ outcome: 'done', output: 'active' })
  })

  test('takes the time of the hub from the agent', async () => {
    const command = reboot({ issued_at: clock.now() + 290_000 - 300_000, expires_at: clock.now() - 1 })
    here.order(command.id, here.sign(command), -290_000)
    await here.obey(system)
    expect(here.result(command.id)?.outcome).toBe('done')
  })

  test('follows no links, and removes what is no order', async () => {
    const secret = join(here.path, 'secret')
    writeFileSync(secret, 'password')
    const { orders } = here.folders
    symlinkSync(secret, join(orders, `${newId('cmd')}.json`))
    Bun.spawnSync(['mkfifo', join(orders, 'pipe')])
    writeFileSync(join(orders, 'large'), Buffer.alloc(2 * 1024 * 1024))
    mkdirSync(join(orders, 'folder'))
    mkdirSync(join(orders, 'full', 'folder'), { recursive: true })
    symlinkSync(here.path, join(orders, 'full', 'link'))
    await here.obey(system)
    expect([readdirSync(orders), existsSync(secret), system.done]).toEqual([[], true, []])
    // Signed orders are always logged, whatever else is handed over.
    expect([here.lines('root'), here.lines('refused')]).toEqual([
      [],
      [expect.stringMatching(/\| refused \| The order can’t be read\. 4 other orders were not signed for this agent either\.$/)],
    ])
  })

  test('does not follow a link in place of the folder', async () => {
    const other = join(here.path, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'file'), '')
    Bun.spawnSync(['rm', '-r', here.folders.orders])
    symlinkSync(other, here.folders.orders)
    await expect(here.obey(system)).rejects.toThrow()
    expect(readdirSync(other)).toEqual(['file'])
  })

  test('writes texts of commands as one line of its log, and lets only the agent read results', async () => {
    const command = reboot({ requested_by: { type: 'user', id: 'usr_1', name: 'Eve\n2026-01-01 | cmd_1 | reboot' } })
    here.order(command.id, here.sign(command))
    await here.obey(system)
    expect(here.lines('root')).toHaveLength(2)
    expect(here.lines('root')[0]).toContain('Eve 2026-01-01 cmd_1 reboot | started')
    expect(statSync(join(here.folders.results, `${command.id}.json`)).mode & 0o777).toBe(0o640)
  })
})

describe('the agent', () => {
  test('hands a command to root, and reports the result', async () => {
    const box = new OrderBox(here.folders, join(here.path, 'run'), clock)
    const agent = agentHalf({ send }, (command, order) => box.run(command, order))
    const command = reboot()
    const handled = agent.handle(here.sign(command))
    while (!existsSync(join(here.folders.orders, `${command.id}.json`))) await nextTurn()
    await here.obey(system)
    clock.advance(1000)
    await handled
    expect(system.done).toEqual(['after 3 s: systemctl reboot'])
    expect(results).toEqual([{ command_id: command.id, outcome: 'done', detail: null, output: null }])
  })

  test('withdraws a command that root does not take', async () => {
    const box = new OrderBox(here.folders, join(here.path, 'run'), clock)
    const handled = agentHalf({ send }, (command, order) => box.run(command, order)).handle(here.sign(reboot()))
    let isHandled = false
    void handled.then(() => (isHandled = true))
    for (; !isHandled; await nextTurn()) clock.advance(1000)
    expect(results[0]).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('did not start') })
    await here.obey(system)
    expect(system.done).toEqual([])
  })

  test('waits for commands, and tries again when the hub is away', async () => {
    const command = here.command('collect', {})
    const requests: string[] = []
    const answers: (() => unknown)[] = [
      () => ({ commands: [], live_seconds: 60 }),
      () => {
        throw new HubRequestFailed('The hub is away.', 'unavailable', null)
      },
      () => ({ commands: [here.sign(command), 'nonsense'], live_seconds: 0 }),
      () => {
        throw new HubRequestFailed('The token was revoked.', 'revoked', 401)
      },
    ]
    const agent = agentHalf({
      async send(request) {
        requests.push(`${request.method} ${request.path} ${request.headers?.Prefer ?? ''}`.trim())
        if (request.path === resultsPath) return await send(request)
        return { status: 200, body: answers.shift()!(), sentAt: 0 }
      },
    })
    agent.start()
    for (let second = 0; second < 20; second++) await clock.advance(1000)
    expect(requests.filter(one => one.startsWith('GET'))).toEqual(Array(4).fill(`GET ${commandsPath}?run_id=run-1 wait=30`))
    expect([collected, watched, results.map(one => [one.command_id, one.outcome])]).toEqual([1, [60], [[command.id, 'done']]])
  })

  test('reports a result again until the hub has it', async () => {
    let failures = 3
    const agent = agentHalf({
      async send(request) {
        if (failures-- > 0) throw new HubRequestFailed('The hub is away.', 'unavailable', null)
        return await send(request)
      },
    })
    const handled = agent.handle(here.sign(here.command('collect', {})))
    for (let second = 0; second < 40; second++) await clock.advance(1000)
    await handled
    expect(results).toHaveLength(1)
  })
})

test('IDs of commands are forgotten after a day', () => {
  const path = join(here.path, 'seen')
  const seen = new SeenCommands(path)
  const add = (id: string, now: number) => seen.add({ id, issued_at: now }, now)
  add('cmd_1', 0)
  add('cmd_2', 80_000_000)
  expect([seen.has('cmd_1'), new SeenCommands(path).has('cmd_1')]).toEqual([true, true])
  add('cmd_3', 86_400_001)
  const again = new SeenCommands(path)
  expect([again.has('cmd_1'), again.has('cmd_2'), again.has('cmd_3')]).toEqual([false, true, true])
  // The newest one stays.
  seen.add({ id: 'cmd_4', issued_at: 10 }, 300_000_000)
  expect([new SeenCommands(path).has('cmd_2'), new SeenCommands(path).newest]).toEqual([false, 86_400_001])
})
