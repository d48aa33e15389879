/** How to check a signature in one language. */
export interface Snippet {
  /** The word behind the fence: `python`. */
  language: string
  title: string
  code: string
}

/** The snippets of the handbook’s section on signatures, in their order. */
export function snippetsIn(page: string): Snippet[] {
  const section = /\n## Check the signature\n([\s\S]*?)\n## /.exec(page)?.[1] ?? ''
  return [...section.matchAll(/\n([^\n]+):\n\n```(\w+)\n([\s\S]*?)\n```/g)].map(([, title, language, code]) => ({
    language: language!,
    title: title!.split(',')[0]!,
    code: code!,
  }))
}
