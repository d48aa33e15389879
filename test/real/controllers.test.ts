import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Controller, ControllerCommand } from '../../src/features/servers/controllers/controller'
import { ipmi } from '../../src/features/servers/controllers/ipmi'
import { redfish } from '../../src/features/servers/controllers/redfish'
import { ssh } from '../../src/features/servers/controllers/ssh'
import { wakeOnLan } from '../../src/features/servers/controllers/wake-on-lan'
import { BmcDouble } from '../support/controllers/bmc'
import { failureOf } from '../support/controllers/failure'
import { ipmitool, startFakeBmc, startIpmiSim, type IpmiServer, type SimulatedBmc } from '../support/controllers/ipmi-servers'
import { freePort } from '../support/free-port'
import { outputLines } from '../support/output-lines'
import { pluginContext } from '../support/plugin-context'
import { bmcServer } from '../support/python-packages'
import { startServer, type ServerProcess } from '../support/server-process'
import { fingerprintOf } from '../support/ssh-server'

// Controllers and independent implementations of their protocols.

const around = pluginContext()
const commandOf = (verb: ControllerCommand['verb']): ControllerCommand =>
  verb === 'shutdown' ? { verb, timeoutSeconds: 30, thenForce: false } : { verb }

/** Carries out a command, and waits for its end. */
async function carriedOut(controller: Controller, verb: ControllerCommand['verb']): Promise<void> {
  const started = await controller.start(commandOf(verb))
  if (started.state === 'done') return
  let operation = started.operation
  for (;;) {
    const polled = await controller.poll(operation)
    if (polled.state !== 'running') return expect(polled).toEqual({ state: 'done' })
    operation = polled.operation
    await Bun.sleep(100)
  }
}

describe('IPMI', () => {
  let sim: SimulatedBmc
  let fake: IpmiServer
  beforeAll(async () => {
    ;[sim, fake] = await Promise.all([startIpmiSim(), startFakeBmc()])
  })
  afterAll(async () => {
    await Promise.all([sim.stop(), fake.stop()])
  })
  const open = ({ port, user, password }: IpmiServer, more: object = {}) =>
    ipmi.open({ host: '127.0.0.1', port, user, password, cipher_suite: 3, ...more }, around)
  const witness = (server: IpmiServer) => ipmitool(server, 3, 'chassis', 'power', 'status')

  test('switches the BMC of pyghmi, as ipmitool sees', async () => {
    const controller = open(fake)
    expect((await controller.check()).detail).toStartWith('IPMI 2.0, firmware 1.00')
    for (const [verb, power] of [
      ['power_on', 'on'],
      ['power_cycle', 'on'],
      ['shutdown', 'off'],
      ['power_on', 'on'],
      ['power_off', 'off'],
    ] as const) {
      await carriedOut(controller, verb)
      expect(await controller.power!()).toBe(power)
      expect(await witness(fake)).toBe(`Chassis Power is ${power}`)
    }
  })

  test('boots a machine behind the BMC of OpenIPMI, and shuts it down', async () => {
    const controller = open(sim)
    expect(await controller.check()).toMatchObject({ detail: 'IPMI 2.0, firmware 9.08, manufacturer 4753, product 3842' })
    expect([await controller.power!(), sim.isRunning()]).toEqual(['off', false])
    await carriedOut(controller, 'power_on')
    while (sim.serial() !== 'booted\n') await Bun.sleep(20)
    expect([await witness(sim), sim.isRunning()]).toEqual(['Chassis Power is on', true])
    // The machine switches itself off when its power button is pressed.
    await carriedOut(controller, 'shutdown')
    expect([await witness(sim), sim.isRunning()]).toEqual(['Chassis Power is off', false])
    await carriedOut(controller, 'power_on')
    await carriedOut(controller, 'power_off')
    expect([await witness(sim), sim.isRunning()]).toEqual(['Chassis Power is off', false])
  })

  test('follows what ipmitool does', async () => {
    for (const server of [sim, fake]) {
      await ipmitool(server, 3, 'chassis', 'power', 'on')
      expect(await open(server).power!()).toBe('on')
      await ipmitool(server, 3, 'chassis', 'power', 'off')
      expect(await open(server).power!()).toBe('off')
    }
  })

  test('has different errors for a password, a user, a cipher suite, and silence', async () => {
    for (const server of [sim, fake]) {
      expect(await failureOf(open(server, { password: 'wrong' }).check())).toEqual([
        'unauthorized',
        `The password of the user "${server.user}" is wrong.`,
      ])
      expect(await failureOf(open(server, { cipher_suite: 17 }).check())).toEqual([
        'refused',
        'The BMC does not accept cipher suite 17. Enable it in the BMC, or set cipher_suite to 3.',
      ])
    }
    const silent = await Bun.udpSocket({ hostname: '127.0.0.1', socket: { data() {}, error() {} } })
    const settings = { ...fake, port: silent.port }
    // The BMC of pyghmi does not respond to unknown users.
    const failures = await Promise.all([
      failureOf(open(sim, { user: 'nobody' }).check()),
      failureOf(open(fake, { user: 'nobody' }).check()),
      failureOf(open(settings).check()),
    ])
    const unknown: [string, string] = ['unauthorized', 'The BMC has no user "nobody", or the user has no access over LAN.']
    expect(failures).toEqual([
      unknown,
      unknown,
      ['timeout', 'The host does not respond to IPMI. Check that IPMI over LAN is enabled in the BMC.'],
    ])
    silent.close()
  }, 180_000)

  test('the simulated BMC of other tests speaks cipher suites 3 and 17, as ipmitool sees', async () => {
    const bmc = await new BmcDouble().start()
    const [user, { password }] = Object.entries(bmc.users)[0]!
    const server: IpmiServer = { port: bmc.port, user, password, stop: async () => bmc.stop() }
    for (const suite of [3, 17]) {
      expect(await ipmitool(server, suite, 'chassis', 'power', 'on')).toBe('Chassis Power Control: Up/On')
      expect(await ipmitool(server, suite, 'chassis', 'power', 'status')).toBe('Chassis Power is on')
    }
    await server.stop()
  }, 180_000)
})

describe('Redfish', () => {
  const names = ['on', 'off', 'shutdown', 'reboot', 'cycle']
  const uuids = names.map((_, at) => `11111111-2222-4333-8444-55555555555${at}`)
  const access = { user: 'bailiwick', password: 'changeme-redfish' }
  const pem = (name: string) => `${process.cwd()}/test/fixtures/tls/loopback.${name}`
  const fingerprint = new X509Certificate(readFileSync('test/fixtures/tls/loopback.pem')).fingerprint256
  let emulator: ServerProcess

  beforeAll(async () => {
    const hash = await Bun.password.hash(access.password, { algorithm: 'bcrypt', cost: 4 })
    const systems = names.map((name, at) => ({
      uuid: uuids[at],
      name,
      power_state: name === 'on' ? 'Off' : 'On',
      nics: [{ mac: `52:54:00:00:00:0${at}`, ip: `192.0.2.${at}` }],
    }))
    emulator = await startServer(1, (folder, [port]) => ({
      command: [bmcServer('sushy-emulator'), '--config', join(folder, 'config'), '--fake'],
      files: {
        users: `${access.user}:${hash}\n`,
        config: `SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'
SUSHY_EMULATOR_LISTEN_PORT = ${port}
SUSHY_EMULATOR_SSL_CERT = '${pem('pem')}'
SUSHY_EMULATOR_SSL_KEY = '${pem('key')}'
SUSHY_EMULATOR_AUTH_FILE = '${folder}/users'
SUSHY_EMULATOR_FEATURE_SET = 'full'
SUSHY_EMULATOR_STATE_DIR = '${folder}'
SUSHY_EMULATOR_FAKE_SYSTEMS = ${JSON.stringify(systems)}
`,
      },
    }))
  }, 180_000)
  afterAll(() => emulator.stop())

  const open = (name: string, more: object = {}) =>
    redfish.open(
      {
        url: `https://127.0.0.1:${emulator.ports[0]}`,
        ...access,
        fingerprint,
        system_id: uuids[names.indexOf(name)]!,
        ...more,
      },
      around,
    )

  test('checks the system', async () => {
    expect(await open('on').check()).toEqual({
      detail: 'Redfish 1.5.0, Sushy Emulator',
      warnings: [],
    })
    expect((await failureOf(open('on', { password: 'wrong' }).check()))[0]).toBe('unauthorized')
    expect((await failureOf(open('on', { fingerprint: '0'.repeat(64) }).check()))[1]).toContain('fingerprint')
    expect((await failureOf(open('on', { system_id: undefined }).check()))[0]).toBe('invalid')
  })

  test('switches systems whose power follows up to 11 seconds later', async () => {
    const verbs = { on: 'power_on', off: 'power_off', shutdown: 'shutdown', reboot: 'reboot', cycle: 'power_cycle' } as const
    const powers = await Promise.all(
      Object.entries(verbs).map(async ([name, verb]) => {
        const controller = open(name)
        await carriedOut(controller, verb)
        return [name, await controller.power!()]
      }),
    )
    expect(Object.fromEntries(powers)).toEqual({ on: 'on', off: 'off', shutdown: 'off', reboot: 'on', cycle: 'on' })
  }, 180_000)

  test('names what a system supports instead', async () => {
    expect(await failureOf(open('on').start({ verb: 'suspend' }))).toEqual([
      'refused',
      'The Redfish service does not support Pause or Suspend. It supports On, ForceOff, GracefulShutdown, GracefulRestart, ForceRestart, Nmi, ForceOn.',
    ])
  })

  test('reads sensors', async () => {
    const metrics = new Set((await open('on').sensors!()).map(one => one.metric))
    expect([...metrics]).toEqual(['temperature.celsius', 'fan.rpm'])
  })
})

test('a magic packet is received octet for octet', async () => {
  const port = await freePort()
  const receiver = Bun.spawn(
    [
      'python3',
      '-c',
      `import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', ${port})); print('ready', flush=True); print(s.recv(2000).hex())`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  const output = outputLines(receiver.stdout)
  const read = async () => (await output.next()).value
  expect(await read()).toBe('ready')
  await wakeOnLan.open({ mac: '52:54:00:ab:cd:ef', broadcast: '127.255.255.255', port }, around).start({ verb: 'power_on' })
  expect(await read()).toBe(`ffffffffffff${'525400abcdef'.repeat(16)}`)
  await receiver.exited
})

describe('SSH, at the server of OpenSSH', () => {
  let server: ServerProcess
  const read = (name: string) => readFileSync(join(server.folder, name), 'utf8')
  beforeAll(async () => {
    if (process.getuid?.() !== 0) throw new Error('Run this as root: sshd lets only root sign in as root, and needs /run/sshd.')
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    server = await startServer(1, (folder, [port]) => {
      for (const name of ['host', 'user'])
        Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
      return {
        command: ['/usr/sbin/sshd', '-D', '-E', join(folder, 'log'), '-f', join(folder, 'sshd_config')],
        files: {
          // Instead of a command, this records it.
          record: `echo "$SSH_ORIGINAL_COMMAND" >>${folder}/commands\n[ "$SSH_ORIGINAL_COMMAND" = "id -u" ] && echo 0\nexit 0\n`,
          commands: '',
          sshd_config: `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${folder}/host\nPidFile none\nStrictModes no
PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no
AuthorizedKeysFile ${folder}/user.pub\nForceCommand /bin/sh ${folder}/record\n`,
        },
      }
    })
  })
  afterAll(() => server?.stop())
  const open = (more: object = {}) =>
    ssh.open(
      {
        host: '127.0.0.1',
        port: server.ports[0]!,
        user: 'root',
        private_key: read('user'),
        host_key: fingerprintOf(read('host.pub')),
        ...more,
      },
      around,
    )

  test('runs the fixed commands', async () => {
    expect(await open().check()).toEqual({ detail: 'SSH', warnings: [] })
    // Commands are recorded, so it is safe to send others.
    expect(read('commands')).toBe('uname -sr\nid -u\n')
    await open().start({ verb: 'reboot' })
    const started = await open({ sudo: true }).start({ verb: 'shutdown', timeoutSeconds: 30, thenForce: false })
    expect(read('commands').split('\n').slice(2)).toEqual(['shutdown -r now', 'sudo -n shutdown -h now', ''])
    if (started.state !== 'running') throw new Error(started.state)
    expect(await open().poll(started.operation)).toMatchObject({ state: 'running' })
  })

  test('does not sign in to a server with another host key', async () => {
    const seen = fingerprintOf(read('host.pub'))
    for (const host_key of [undefined, `SHA256:${'A'.repeat(43)}`]) {
      const [failure, message] = await failureOf(open({ host_key }).check())
      expect([failure, message]).toEqual(['refused', expect.stringContaining(seen)])
    }
    expect(await failureOf(open({ user: 'nobody' }).check())).toEqual([
      'unauthorized',
      'The server rejected the user "nobody", or its password or key.',
    ])
  })
})
