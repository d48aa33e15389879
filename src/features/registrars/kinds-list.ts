import { kindView } from '../../adapters/kinds'
import { onePage, type Page } from '../../core/shapes'
import { registrarKinds } from './kinds'
import type { RegistrarKindView } from './shapes'

/** Lists all kinds of registrars on one page. */
export const listRegistrarKinds = (): Page<RegistrarKindView> =>
  onePage(
    registrarKinds.map(kind => ({
      ...kindView(kind),
      capabilities: [...kind.caps.capabilities],
      catching: kind.caps.catching,
      currency: kind.caps.currency,
    })),
  )
