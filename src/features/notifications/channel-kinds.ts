import { kindView } from '../../adapters/kinds'
import { onePage, type Page } from '../../core/shapes'
import { channelKinds } from './channels'
import type { NotificationChannelKindView } from './shapes'

/** All channel types, on one page. */
export const listChannelKinds = (): Page<NotificationChannelKindView> => onePage(channelKinds.map(kindView))
