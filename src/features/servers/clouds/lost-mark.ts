import { cloudKindOf } from '.'

/** Whether someone removed or changed the label that marks what was created here. @param id of what was created */
export const hasLostMark = (id: string, { mark }: { mark: string | null }, kind: string): boolean =>
  mark !== id && cloudKindOf(kind)?.capabilities.marksAreLabels === true
