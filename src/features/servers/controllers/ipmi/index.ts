import { Type } from '@sinclair/typebox'
import type { AccountCheck } from '../../../../adapters/adapter'
import { secret, settingsForm, type SettingsOf } from '../../../../adapters/settings-form'
import { invalid, type FieldProblem } from '../../../../core/problem'
import { grouped, Line, Words } from '../../../../core/shapes'
import {
  CloudError,
  type AdapterContext,
  type Controller,
  type ControllerCommand,
  type ControllerKind,
  type ControllerVerb,
  type Operation,
  type Polled,
  type Power,
  type Started,
} from '../controller'
import { hostProblems, hostSetting, portSetting } from '../host-settings'
import { isUnchanged, pollPower, waitAfter, waitOf } from '../power-wait'
import { cipherSuites } from './cipher-suites'
import { Dialog } from './dialog'
import { chassisControls, commands, type IpmiCommand } from './messages'
import { defaultWaits, hex, IpmiSession, privilegeTooHigh, type Waits } from './session'

const defaults = { port: 623, cipher_suite: 17, privilege: 'operator' } as const

const form = settingsForm({
  host: hostSetting('Hostname or IP address of the BMC.'),
  user: Line({ minLength: 1, maxLength: 16, description: 'Name of a user of the BMC.', examples: ['bailiwick'] }),
  password: Line({ ...secret, minLength: 1, maxLength: 20, description: 'Password of the user, up to 20 bytes.' }),
  ...grouped('Connection', {
    port: portSetting(defaults.port, 'UDP port.'),
    cipher_suite: Type.Optional(
      Type.Union([Type.Literal(17), Type.Literal(3)], {
        default: defaults.cipher_suite,
        description: 'Cipher suite: 17 (SHA-256), or 3 (SHA-1) for BMCs that don’t support 17. Default: 17.',
      }),
    ),
    privilege: Type.Optional(
      Words(['operator', 'administrator'], {
        default: defaults.privilege,
        description: 'Privilege level of the session. `operator` is sufficient to switch the power. Default: `operator`.',
      }),
    ),
  }),
})
type IpmiSettings = SettingsOf<typeof form>

/** Chassis controls for each verb, in order of preference. */
const controls: Partial<Record<ControllerVerb, readonly number[]>> = {
  power_on: [chassisControls.powerUp],
  power_off: [chassisControls.powerDown],
  shutdown: [chassisControls.softShutdown],
  power_cycle: [chassisControls.powerCycle, chassisControls.hardReset],
}

/** Power of a server through its BMC, via IPMI 2.0 (RMCP+). */
export const ipmi: ControllerKind<IpmiSettings> = {
  kind: 'ipmi',
  title: 'IPMI',
  ...form,
  verbs: Object.keys(controls) as ControllerVerb[],
  readsPower: true,
  validate(settings) {
    const problems = [...hostProblems(settings), ...lengthProblems(settings)]
    if (problems.length > 0) throw invalid(problems)
  },
  open: (settings, around) => openIpmi(settings, around),
}

/** @param waits other ones in tests */
export const openIpmi = (settings: IpmiSettings, around: AdapterContext, waits = defaultWaits): Controller =>
  new Ipmi(settings, around, waits)

class Ipmi implements Controller {
  constructor(
    private readonly settings: IpmiSettings,
    private readonly around: AdapterContext,
    private readonly waits: Waits,
  ) {}

  async check(): Promise<AccountCheck> {
    const device = await this.#inSession(async session => {
      await powerOf(session)
      return await carriedOut(session, commands.getDeviceId)
    })
    const isSha1 = this.settings.cipher_suite === 3
    return {
      detail: deviceText(device),
      warnings: isSha1 ? ['Cipher suite 3 uses SHA-1. Set cipher_suite to 17 if the BMC supports it.'] : [],
    }
  }

  async power(): Promise<Power> {
    return await this.#inSession(powerOf)
  }

  async start(command: ControllerCommand): Promise<Started> {
    if (!controls[command.verb]) throw unsupported(command.verb)
    return await this.#inSession(async session => {
      if (isUnchanged(command, await powerOf(session))) return { state: 'done', unchanged: true }
      await control(session, command.verb)
      return { state: 'running', operation: { ...waitAfter(command, this.around.clock.now()) } }
    })
  }

  async poll(operation: Operation): Promise<Polled> {
    return await pollPower(waitOf(operation), this.around.clock.now(), {
      power: () => this.power(),
      forceOff: () => this.#inSession(session => control(session, 'power_off')),
    })
  }

  async #inSession<T>(work: (session: IpmiSession) => Promise<T>): Promise<T> {
    const { host, port = defaults.port, user, password, cipher_suite, privilege } = this.settings
    const dialog = await Dialog.open(this.around, host, port)
    try {
      const session = await IpmiSession.open(
        dialog,
        {
          suite: cipherSuites[cipher_suite ?? defaults.cipher_suite],
          user,
          password,
          privilege: privilege === 'administrator' ? 4 : 3,
        },
        this.waits,
      )
      try {
        return await work(session)
      } finally {
        session.close()
      }
    } finally {
      dialog.close()
    }
  }
}

async function powerOf(session: IpmiSession): Promise<Power> {
  const [state] = await carriedOut(session, commands.getChassisStatus)
  if (state === undefined) throw new CloudError('invalid_response', 'The BMC sent an empty chassis status.')
  return (state & 1) !== 0 ? 'on' : 'off'
}

async function control(session: IpmiSession, verb: ControllerVerb): Promise<void> {
  let refusal: CloudError | null = null
  for (const number of controls[verb] ?? []) {
    // A repeated reset would be a second one.
    const { completion } = await session.command(commands.chassisControl(number), verb === 'power_cycle')
    if (completion === 0) return
    refusal = completionError(completion)
    if (refusal.failure !== 'refused') break
  }
  throw refusal ?? unsupported(verb)
}

const unsupported = (verb: ControllerVerb): CloudError =>
  new CloudError('refused', `IPMI does not support ${verb}. It supports ${Object.keys(controls).join(', ')}.`, null, false)

async function carriedOut(session: IpmiSession, command: IpmiCommand): Promise<Buffer> {
  const { completion, data } = await session.command(command)
  if (completion !== 0) throw completionError(completion)
  return data
}

/** Completion codes (IPMI 2.0, table 5-2). */
function completionError(completion: number): CloudError {
  const code = `(completion code 0x${hex(completion)})`
  const refused = (what: string) => new CloudError('refused', `${what} ${code}.`, null, false)
  switch (completion) {
    case 0xc0:
      return new CloudError('locked', `The BMC is busy ${code}.`, null, false)
    case 0xd4:
      return privilegeTooHigh()
    case 0xd5:
      return refused('The BMC does not allow this in the current power state')
    case 0xc1:
    case 0xc9:
    case 0xcc:
    case 0xd6:
      return refused('The BMC does not support this command')
    default:
      return refused('The BMC refused the command')
  }
}

/** Device ID (section 20.1): firmware in two parts, the second in BCD, and numbers of manufacturer and product. */
function deviceText(data: Buffer): string {
  if (data.length < 11) throw new CloudError('invalid_response', 'The BMC sent an incomplete device ID.')
  const version = data[4]!
  const manufacturer = data.readUIntLE(6, 3) & 0xfffff
  return [
    `IPMI ${version & 0x0f}.${version >> 4}`,
    `firmware ${data[2]! & 0x7f}.${hex(data[3]!)}`,
    manufacturers[manufacturer] ?? `manufacturer ${manufacturer}`,
    `product ${data.readUInt16LE(9)}`,
  ].join(', ')
}

/** IANA enterprise numbers of common manufacturers. */
const manufacturers: Record<number, string> = {
  2: 'IBM',
  11: 'HP',
  343: 'Intel',
  674: 'Dell',
  5771: 'Cisco',
  7244: 'Quanta',
  10368: 'Fujitsu',
  10876: 'Supermicro',
  19046: 'Lenovo',
  47196: 'HPE',
}

/** The protocol limits bytes, not characters. */
const lengthProblems = ({ user, password }: IpmiSettings): FieldProblem[] =>
  [
    { name: 'user', value: user, max: 16 },
    { name: 'password', value: password, max: 20 },
  ].flatMap(({ name, value, max }) =>
    Buffer.byteLength(value) <= max
      ? []
      : [{ pointer: `#/settings/${name}`, code: 'length', detail: `must be at most ${max} bytes long.` }],
  )
