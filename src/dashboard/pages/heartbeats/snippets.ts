/** A code snippet that pings a heartbeat. */
interface Snippet {
  title: string
  text: string
}

const exampleUrl = 'https://hub.example.com/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278'

/** Returns the snippets of the handbook’s page of examples, one per section, with a ping URL. */
export const snippetsIn = (page: string, url: string): Snippet[] =>
  [...page.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)].map(([, title, section]) => ({
    title: title!,
    text: [...section!.matchAll(/^```\w+\n([\s\S]*?)\n```$/gm)].map(match => match[1]!.replaceAll(exampleUrl, url)).join('\n\n'),
  }))
