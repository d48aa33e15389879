import type { GroupOptions } from '../../../features/monitors/definition/types'
import type { MonitorView } from '../../../features/monitors/shapes'

/** When a group is down, by rule. */
export const groupRules = {
  any: 'Any member is down',
  all: 'All members are down',
  percent: 'A percentage of members is down',
}

/** When this group is down. */
export function groupRuleOf({ options }: MonitorView): string {
  const { rule, percent } = options as Pick<GroupOptions, 'rule' | 'percent'>
  return rule === 'percent' ? `At least ${percent}% of members are down` : groupRules[rule]
}
