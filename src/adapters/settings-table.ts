import type { TProperties, TSchema } from '@sinclair/typebox'
import type { AdapterKind } from './adapter'

/** Replaces lines such as `<!-- settings: powerdns -->` in a page of the handbook by a table of the settings of that kind. */
export const withSettingsTables = (markdown: string, kinds: readonly AdapterKind[]): string =>
  markdown.replaceAll(/^<!-- settings: (\w+) -->$/gm, (_, name: string) => settingsTable(kinds.find(one => one.kind === name)!))

function settingsTable({ settings, secrets }: AdapterKind): string {
  const rows = (schema: TSchema, above: string): string[] =>
    Object.entries((schema.properties ?? {}) as TProperties).flatMap(([name, inner]) => {
      const path = above + name
      const fallback = inner.default === undefined || typeof inner.default === 'object' ? null : String(inner.default)
      const text = [
        inner.description ?? '',
        ...(schema.required?.includes(name) && inner.default === undefined ? ['Required.'] : []),
        ...(fallback === null || /default/i.test(inner.description ?? '') ? [] : [`Default: \`${fallback}\`.`]),
        ...(secrets.includes(path) && !/encrypted/.test(inner.description ?? '') ? ['Stored encrypted.'] : []),
      ]
      return [`| \`${path}\` | ${text.join(' ')} |`, ...rows(inner, `${path}/`)]
    })
  return ['| Setting | Description |', '|---|---|', ...rows(settings, '')].join('\n')
}
