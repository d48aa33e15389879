import { Suspense, useState } from 'react'
import { lazyComponent } from '../lazy'
import { Combobox, type SearchText } from '../parts/combobox'
import { openDialog } from '../parts/open-dialog'
import type { QuickAction } from './quick-actions'

const Found = lazyComponent(() => import('./palette/palette'))

const label = 'Search or jump to…'

/** Opens a search for pages, resources, the handbook, and actions. */
export const openPalette = (actions: readonly QuickAction[]): void =>
  openDialog({ title: label, content: <Palette actions={actions} /> })

/** The text is kept here, so that it can be typed while the code of the search loads. */
function Palette({ actions }: { actions: readonly QuickAction[] }) {
  const [text, onText] = useState('')
  const search: SearchText = { label, placeholder: 'Search pages, resources, actions, and the handbook', text, onText }
  return (
    <Suspense fallback={<Combobox {...search} rows={[]} isLoading onPick={() => {}} children={() => null} />}>
      <Found actions={actions} search={search} />
    </Suspense>
  )
}
