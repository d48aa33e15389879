import type { Ctx } from '../../../core/ctx'
import { onePage, type Page } from '../../../core/shapes'
import { getDynamicIp } from '../sources'
import { clientConfigs } from '.'
import type { ClientConfig } from './client-config'

/** Lists the configurations for known clients of a source. @throws Problem 404 */
export async function listClientConfigs(ctx: Ctx, id: string): Promise<Page<ClientConfig>> {
  const { families, hosts } = await getDynamicIp(ctx, id)
  return onePage(clientConfigs({ hubUrl: ctx.hub.baseUrl, families, hosts }))
}
