import { Type } from '@sinclair/typebox'
import type { AdapterKind } from './adapter'

/** Fields of a kind in the API. */
export const kindFields = {
  kind: Type.String({ description: 'Name of the kind.' }),
  title: Type.String({ description: 'Display name.' }),
  settings: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema 2020-12 of `settings`.' }),
  secrets: Type.Array(Type.String(), {
    description: 'Paths of settings that are stored encrypted and never returned; `*` matches every key.',
  }),
  destination: Type.Array(Type.String(), {
    description: 'Paths of settings that determine where secrets are sent. Changing one requires sending the secrets again.',
  }),
}

export const kindView = ({ kind, title, settings, secrets, destination }: AdapterKind) => ({
  kind,
  title,
  settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...settings },
  secrets: [...secrets],
  destination: [...destination],
})
