/** Code that verifies a signature in one language. */
interface Snippet {
  /** Language of the code fence, such as `python`. */
  language: string
  title: string
  code: string
}

/** Returns the code snippets of the handbook’s section on signatures. */
export function snippetsIn(page: string): Snippet[] {
  const section = /\n## Verify signatures\n([\s\S]*?)\n## /.exec(page)?.[1] ?? ''
  return [...section.matchAll(/\n([^\n]+):\n\n```(\w+)\n([\s\S]*?)\n```/g)].map(([, title, language, code]) => ({
    language: language!,
    title: title!.split(',')[0]!,
    code: code!,
  }))
}
