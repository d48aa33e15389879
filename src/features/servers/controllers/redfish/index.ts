import { Type } from '@sinclair/typebox'
import type { AccountCheck } from '../../../../adapters/adapter'
import { urlProblem } from '../../../../adapters/json-http'
import { destination, secret, settingsForm, type SettingsOf } from '../../../../adapters/settings-form'
import { parseFingerprint } from '../../../../core/net/fingerprint'
import { invalid, type FieldProblem } from '../../../../core/problem'
import { grouped, Line } from '../../../../core/shapes'
import { isObject } from '../../../../dns/octets'
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
  type SensorReading,
  type Started,
} from '../controller'
import { isPassing, isUnchanged, pollPower, waitAfter, waitOf } from '../power-wait'
import { RedfishClient, type Accepted, type Resource } from './client'
import { sensorsOf } from './sensors'
import { allowedTypes, powerOf, resetOf, resetTypes, systemOf, taskState } from './system'

const form = settingsForm({
  url: Line({
    ...destination,
    minLength: 1,
    maxLength: 1000,
    description: 'URL of the BMC or of the Redfish service.',
    examples: ['https://bmc-1.example.net'],
  }),
  user: Line({ minLength: 1, maxLength: 255, description: 'Name of a user of the BMC.', examples: ['bailiwick'] }),
  password: Line({ ...secret, minLength: 1, maxLength: 255, description: 'Password of the user.' }),
  ...grouped('Server and certificate', {
    system_id: Type.Optional(
      Line({
        minLength: 1,
        maxLength: 255,
        description: 'ID of the system, such as `System.Embedded.1` or `1`. Required only if the service manages several.',
      }),
    ),
    fingerprint: Type.Optional(
      Line({
        ...destination,
        maxLength: 100,
        description:
          'SHA-256 fingerprint of the certificate, if it is self-signed. Only this certificate is accepted. Without a fingerprint, a certificate of a public CA is required.',
      }),
    ),
  }),
})
type RedfishSettings = SettingsOf<typeof form>

/** Power and sensors of a server through the Redfish API of its BMC. */
export const redfish: ControllerKind<RedfishSettings> = {
  kind: 'redfish',
  title: 'Redfish',
  ...form,
  verbs: Object.keys(resetTypes) as ControllerVerb[],
  readsPower: true,
  validate(settings) {
    const problems = [urlProblem('url', settings.url), fingerprintProblem(settings)].filter(one => one !== null)
    if (problems.length > 0) throw invalid(problems)
  },
  open: (settings, around) => new Redfish(settings, around),
}

class Redfish implements Controller {
  readonly #client: RedfishClient

  constructor(
    private readonly settings: RedfishSettings,
    private readonly around: AdapterContext,
  ) {
    this.#client = new RedfishClient(settings, around)
  }

  async check(): Promise<AccountCheck> {
    const root = await this.#client.get(rootPath)
    const system = await systemOf(this.#client, root, this.settings.system_id)
    const reset = isObject(system.Actions) ? system.Actions['#ComputerSystem.Reset'] : undefined
    const allowed = isObject(reset) ? await allowedTypes(this.#client, reset) : []
    const isPlain = new URL(this.settings.url).protocol === 'http:'
    return {
      detail: [
        `Redfish ${textOf(root.RedfishVersion) || '1'}`,
        [textOf(system.Manufacturer), textOf(system.Model)].filter(Boolean).join(' ') || textOf(system.Name),
        textOf(system.SerialNumber) && `serial number ${textOf(system.SerialNumber)}`,
      ]
        .filter(Boolean)
        .join(', '),
      warnings: [...missingVerbs(allowed), ...(isPlain ? ['The password is sent without encryption. Use an https URL.'] : [])],
    }
  }

  async power(): Promise<Power> {
    return powerOf(await this.#system())
  }

  async start(command: ControllerCommand): Promise<Started> {
    const system = await this.#system()
    if (isUnchanged(command, powerOf(system))) return { state: 'done', unchanged: true }
    const accepted = await this.#reset(system, command.verb)
    const wait = waitAfter(command, this.around.clock.now())
    if (accepted.monitor === null && wait === null) return { state: 'done' }
    return { state: 'running', operation: { ...wait, ...accepted } }
  }

  async poll(operation: Operation): Promise<Polled> {
    const now = this.around.clock.now()
    const wait = operation.wanted === undefined ? null : waitOf(operation)
    if (typeof operation.monitor === 'string') {
      const task = await this.#task(operation.monitor)
      // A task that waits for the operating system must not delay what happens after its time.
      if (task.isRunning && (wait === null || now < wait.until)) {
        const { progress } = task
        return { state: 'running', operation, ...(progress !== null && { progress }) }
      }
    }
    // The power doesn't show whether a server is suspended.
    if (wait === null) return { state: 'done' }
    return await pollPower(wait, now, {
      power: () => this.power(),
      forceOff: async () => {
        await this.#reset(await this.#system(), 'power_off')
      },
    })
  }

  async sensors(): Promise<SensorReading[]> {
    return await sensorsOf(this.#client, await this.#system())
  }

  async #system(): Promise<Resource> {
    return await systemOf(this.#client, await this.#client.get(rootPath), this.settings.system_id)
  }

  async #reset(system: Resource, verb: ControllerVerb): Promise<Accepted> {
    const { target, type } = await resetOf(this.#client, system, verb)
    return await this.#client.post(target, { ResetType: type })
  }

  /** @throws CloudError if the task failed */
  async #task(monitor: string): Promise<{ isRunning: boolean; progress: number | null }> {
    try {
      const { status, body } = await this.#client.task(monitor)
      const { failure, ...task } = taskState(status, body)
      if (failure !== null) throw new CloudError('refused', failure, null, false)
      return task
    } catch (error) {
      // Services delete tasks that have ended.
      if (error instanceof CloudError && error.failure === 'not_found') return { isRunning: false, progress: null }
      if (isPassing(error)) return { isRunning: true, progress: null }
      throw error
    }
  }
}

const rootPath = '/redfish/v1/'

/** @param allowed null if the service doesn't list what it allows */
function missingVerbs(allowed: readonly string[] | null): string[] {
  if (allowed === null) return []
  const missing = (Object.keys(resetTypes) as ControllerVerb[]).filter(
    verb => !optionalVerbs.includes(verb) && !resetTypes[verb].some(type => allowed.includes(type)),
  )
  return missing.length === 0 ? [] : [`The system does not support ${missing.join(', ')}.`]
}

/** Few servers can be suspended. */
const optionalVerbs: readonly ControllerVerb[] = ['suspend', 'resume']

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

function fingerprintProblem({ url, fingerprint }: RedfishSettings): FieldProblem | null {
  if (fingerprint === undefined) return null
  const wrong = (detail: string): FieldProblem => ({ pointer: '#/settings/fingerprint', code: 'format', detail })
  if (parseFingerprint(fingerprint) === null) return wrong('must be a SHA-256 fingerprint: 64 hexadecimal digits.')
  return /^https:/i.test(url) ? null : wrong('must not be set for an http URL.')
}
