import type { Page } from '../../core/shapes'
import { channelKinds } from './channels'
import type { NotificationChannelKindView } from './shapes'

/** Every way of telling people, on one page. */
export const listChannelKinds = (): Page<NotificationChannelKindView> => ({
  data: channelKinds.map(({ kind, title, settings, secrets, destination }) => ({
    kind,
    title,
    settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...settings },
    secrets: [...secrets],
    destination: [...destination],
  })),
  pagination: { has_more: false, next_cursor: null },
})
