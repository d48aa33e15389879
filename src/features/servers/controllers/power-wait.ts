import { CloudError, type ControllerCommand, type Operation, type Polled, type Power } from './controller'

/** Power that is awaited after a command was accepted: management controllers report it with a delay. */
interface PowerWait {
  wanted: 'on' | 'off'
  /** When waiting ends (ms UTC). */
  until: number
  /** Whether the server is switched off then. */
  thenForce: boolean
}

/** How long the power may take to follow a command that doesn't depend on the operating system. */
const powerMs = 120_000

/** What to wait for after a command; null if the power doesn't show it. @param now ms UTC */
export function waitAfter(command: ControllerCommand, now: number): PowerWait | null {
  switch (command.verb) {
    case 'power_on':
    case 'reboot':
    case 'power_cycle':
      return { wanted: 'on', until: now + powerMs, thenForce: false }
    case 'power_off':
      return { wanted: 'off', until: now + powerMs, thenForce: false }
    case 'shutdown':
      return { wanted: 'off', until: now + command.timeoutSeconds * 1000, thenForce: command.thenForce }
    default:
      return null
  }
}

/** Whether a server is already as a command wants it. */
export const isUnchanged = ({ verb }: ControllerCommand, power: Power): boolean =>
  (verb === 'power_on' && power === 'on') || ((verb === 'power_off' || verb === 'shutdown') && power === 'off')

/** Reads the wait from a stored operation. @throws CloudError */
export function waitOf({ wanted, until, thenForce }: Operation): PowerWait {
  if ((wanted !== 'on' && wanted !== 'off') || typeof until !== 'number')
    throw new CloudError('invalid_response', 'The stored operation is not of this kind of controller.')
  return { wanted, until, thenForce: thenForce === true }
}

/**
 * Looks whether the power is as wanted. A controller that doesn't respond meanwhile is asked again.
 * @param now ms UTC
 * @throws CloudError `timeout`
 */
export async function pollPower(
  wait: PowerWait,
  now: number,
  { power, forceOff }: { power(): Promise<Power>; forceOff(): Promise<void> },
): Promise<Polled> {
  const running = (next: PowerWait, detail: string): Polled => ({ state: 'running', operation: { ...next }, detail })
  const current = await powerOrFailure(power)
  if (current === wait.wanted) return { state: 'done' }
  if (now < wait.until) return running(wait, `Waiting for the power to be ${wait.wanted}.`)
  if (current instanceof CloudError) throw current
  if (wait.thenForce) {
    await forceOff()
    return running(
      { wanted: 'off', until: now + powerMs, thenForce: false },
      'Switched off, because it did not shut down in time.',
    )
  }
  const reported = current === 'unknown' ? 'not known' : `still ${current}`
  throw new CloudError('timeout', `The power is ${reported}. It should be ${wait.wanted} by now.`, null, false)
}

/** Whether reading failed for a reason that can pass: management controllers are slow, and some restart with the server. */
export const isPassing = (error: unknown): error is CloudError =>
  error instanceof CloudError && ['unreachable', 'timeout', 'throttled', 'incomplete'].includes(error.failure)

async function powerOrFailure(power: () => Promise<Power>): Promise<Power | CloudError> {
  try {
    return await power()
  } catch (error) {
    if (isPassing(error)) return error
    throw error
  }
}
