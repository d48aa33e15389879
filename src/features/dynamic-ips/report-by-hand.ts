import type { Ctx } from '../../core/ctx'
import { conflict, invalid, type FieldProblem } from '../../core/problem'
import { findRow } from '../../core/rows'
import { readAddress, readPrefix } from './addresses'
import { report, SourceHeld } from './report'
import type { DynamicIpReport, DynamicIpView } from './shapes'
import { getDynamicIp } from './sources'
import { dynamicIpRows } from './view'

/**
 * Sets the addresses of a source as if its client had reported them.
 * @throws Problem 404, 422 naming the address; 409 if the source is held
 */
export async function reportByHand(ctx: Ctx, id: string, input: DynamicIpReport): Promise<DynamicIpView> {
  const source = await findRow(ctx.hub.read, ctx, dynamicIpRows, id)
  if (source.status === 'held') throw conflict('The source is held. Resume it first.')
  const problems: FieldProblem[] = []
  const values: Partial<Record<'ipv4' | 'ipv6' | 'prefix6', string | null>> = {}
  for (const name of ['ipv4', 'ipv6', 'prefix6'] as const) {
    const text = input[name]
    if (text === undefined) continue
    if (text === null) {
      values[name] = null
      continue
    }
    const read = name === 'prefix6' ? readPrefix(text) : readAddress(text)
    const family = name === 'prefix6' ? 'ipv6' : name
    const fits = read.kind === 'prefix' ? name === 'prefix6' : read.kind === 'address' && read.family === name
    const add = (code: string, detail: string) => problems.push({ pointer: `#/${name}`, code, detail })
    if (!fits || read.kind === 'refused')
      add(
        'format',
        name === 'prefix6'
          ? 'must be an IPv6 prefix from /48 to /64.'
          : `must be an ${name === 'ipv4' ? 'IPv4' : 'IPv6'} address of a host.`,
      )
    else if (!source.families.includes(family))
      add('not_allowed', `is not allowed, because the families of the source don’t include ${family}.`)
    else if (read.class !== 'public' && !source.allowPrivate)
      add('not_allowed', 'must be a public address, unless `allow_private` is true.')
    else values[name] = read.kind === 'prefix' ? read.prefix : read.address
  }
  if (problems.length > 0) throw invalid(problems)
  const { ip, user_agent } = ctx.context
  try {
    await report(
      ctx.hub,
      source,
      {
        ...values,
        hosts: null,
        perHost: new Map(),
        client: { client: ctx.actor.name ?? '', user_agent, dialect: 'api', presented_by: 'api', address: ip, https: true },
        given: Object.fromEntries(Object.entries(input).map(([name, value]) => [name, String(value)])),
        describe: ({ changed }) => ({ answers: [], explanation: changed ? 'Set through the API.' : 'Nothing changed.' }),
      },
      ctx,
    )
  } catch (error) {
    if (error instanceof SourceHeld) throw conflict(error.detail)
    throw error
  }
  return await getDynamicIp(ctx, id)
}
