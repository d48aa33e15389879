import type { Clock } from '../../src/core/clock'
import { registrarKindOf } from '../../src/features/registrars/kinds'
import type { Registrar } from '../../src/features/registrars/registrar'
import type { EppDoor } from './epp-door'
import { pluginContext } from './plugin-context'

/** The registrar whose account {@link openEpp} opens. */
export const eppUser = 'registrar-1'
export const eppPassword = 'first-password'

/**
 * Opens an account at an EPP door. Its domains are tracked.
 * @param settings in addition
 * @param isTracked whether a domain is
 */
export const openEpp = (
  door: EppDoor,
  clock: Clock,
  settings: object = {},
  isTracked: (name: string) => boolean = () => true,
): Registrar =>
  registrarKindOf('epp')!.open(
    {
      host: 'localhost',
      port: door.port,
      user: eppUser,
      password: eppPassword,
      fingerprint: door.certificate.sha256,
      ...settings,
    },
    {
      ...pluginContext(),
      clock,
      trackedNames: async (after, count) =>
        [...door.registry.registry.names]
          .flatMap(([name, { registrar }]) => (registrar === eppUser && isTracked(name) ? [name] : []))
          .sort()
          .filter(name => after === null || name > after)
          .slice(0, count),
    },
  )
