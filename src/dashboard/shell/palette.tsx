import { Suspense } from 'react'
import { lazyComponent } from '../lazy'
import { openDialog } from '../parts/open-dialog'
import type { QuickAction } from './quick-actions'

const Palette = lazyComponent(() => import('./palette/palette'))

/** Opens a search for pages, resources, the handbook, and actions. */
export const openPalette = (actions: readonly QuickAction[]): void =>
  openDialog({
    title: 'Search or jump to…',
    content: (
      <Suspense fallback={<div className="min-h-37" aria-busy="true" />}>
        <Palette actions={actions} />
      </Suspense>
    ),
  })
