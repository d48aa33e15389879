import { configuredServers, type Configs, type ConfiguredServer } from './configs'
import { gradeRules, ruleNames } from './grade'
import { effects, type Effect } from './rule'

const headings: Record<Effect, string> = {
  T: 'Certificate not trusted: T',
  M: 'Certificate for another name: M',
  F: 'At most F',
  C: 'At most C',
  B: 'At most B',
  warning: 'At most A-',
}

/** Replaces the line `<!-- grade rules -->` in a page of the handbook by all rules, with what they mean and how to fix them. */
export const withGradeRules = (markdown: string): string =>
  markdown.replace(/^<!-- grade rules -->$/m, () =>
    effects.map(effect => [`## ${headings[effect]}`, ...rulesWith(effect)].join('\n\n')).join('\n\n'),
  )

const rulesWith = (effect: Effect): string[] =>
  ruleNames.flatMap(name => {
    const { title, meaning, fix, configs, effect: own } = gradeRules[name]
    return own === effect ? [`### ${name}`, `**${title}.** ${meaning}`, fix, ...examples(configs)] : []
  })

const examples = (configs: Configs): string[] =>
  Object.entries(configuredServers).flatMap(([server, title]) => {
    const lines = configs[server as ConfiguredServer]
    return lines === null ? [] : [`${title}:`, `\`\`\`text\n${lines}\n\`\`\``]
  })
