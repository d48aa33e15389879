import type { LucideIcon } from 'lucide-react'

interface FileButtonProps {
  small?: boolean
  icon?: LucideIcon
  /** Extensions of the files to offer: `.yaml,.json`. */
  accept?: string
  onText(text: string): void
}

/** Reads a text file. */
export const FileButton = ({ small, icon: Icon, accept, onText }: FileButtonProps) => (
  <label
    className={`inline-flex cursor-pointer items-center gap-1.5 rounded-md border border-line bg-surface font-medium focus-within:outline-2 focus-within:outline-accent hover:bg-hover ${
      small ? 'h-7 px-2 text-[13px]' : 'h-9 px-3'
    }`}
  >
    {Icon && <Icon className="size-4" aria-hidden />}
    Choose file
    <input
      type="file"
      accept={accept}
      className="sr-only"
      onChange={event => void event.target.files?.[0]?.text().then(onText)}
    />
  </label>
)

/** Downloads a text as a file. */
export function saveFile(text: string, name: string, type: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
