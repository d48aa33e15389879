import { usageKey } from '../../checks/conditions/values'
import type { ServerUsage } from '../../checks/check'
import type { AgentFacts, AgentReport } from '../../wire/agent'

/** At most this many names of units, disks, and so on are listed in an error. */
const maxNames = 5
const unhealthyStates = ['restarting', 'dead']

/**
 * What an agent reported about its server, apart from metrics, by the sources of conditions. What it didn’t report is left out.
 * @param notServed services that don’t present the newest certificate on disk
 */
export function partUsage(
  { units, containers, disks, arrays, processes }: Pick<AgentReport, 'units' | 'containers' | 'disks' | 'arrays' | 'processes'>,
  facts: AgentFacts | null,
  notServed?: readonly string[],
): ServerUsage {
  return {
    ...(units && {
      ...counted('FAILED_UNITS', units, one => one.state === 'failed' && one.name),
      ...states(
        'UNIT',
        units.flatMap(one => unitNames(one.name).map(name => ({ ...one, name }))),
      ),
    }),
    ...(containers && {
      ...counted(
        'UNHEALTHY_CONTAINERS',
        containers,
        one => (one.health === 'unhealthy' || unhealthyStates.includes(one.state)) && one.name,
      ),
      ...states('CONTAINER', containers),
    }),
    ...(disks && {
      ...named(
        'SMART_FAILING',
        disks
          .filter(one => one.failing)
          .map(one => [one.device, ...one.warnings.slice(0, 1).map(text => text.replace(/\.$/, ''))].join(': ')),
      ),
      ...Object.fromEntries(disks.map(one => [usageKey('SMART_FAILING', one.device), one.failing])),
      SMART_FAILING: disks.some(one => one.failing),
    }),
    ...(arrays && counted('ARRAYS_DEGRADED', arrays, one => one.degraded && one.name)),
    ...(notServed && counted('CERTIFICATES_NOT_SERVED', notServed, one => one)),
    ...(processes && {
      PROCESS: processes.length,
      ...Object.fromEntries(processes.map(one => [usageKey('PROCESS', one.name), one.count])),
    }),
    ...(facts?.security_updates !== undefined && { SECURITY_UPDATES: facts.security_updates }),
    ...(facts?.reboot_required !== undefined && { REBOOT_REQUIRED: facts.reboot_required }),
  }
}

/** The names by which a unit can be found: services also without the end of their name, as in systemctl. */
const unitNames = (name: string): string[] =>
  name.endsWith('.service') ? [name, name.slice(0, -'.service'.length)] : name.includes('.') ? [name] : [name, `${name}.service`]

/** The state of each, and how many there are, so that the source is known if one of them no longer exists. */
const states = (source: string, all: readonly { name: string; state: string }[]): ServerUsage => ({
  [source]: all.length,
  ...Object.fromEntries(all.map(one => [usageKey(source, one.name), one.state])),
})

function counted<T>(source: string, all: readonly T[], nameOf: (one: T) => string | false): ServerUsage {
  const names = all.map(nameOf).filter(name => name !== false)
  return { [source]: names.length, ...named(source, names) }
}

const named = (source: string, names: readonly string[]): ServerUsage =>
  names.length === 0
    ? {}
    : {
        [`${source} names`]: [
          ...names.slice(0, maxNames),
          ...(names.length > maxNames ? [`and ${names.length - maxNames} more`] : []),
        ].join(', '),
      }
