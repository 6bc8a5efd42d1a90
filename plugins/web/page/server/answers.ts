/** Caches the latest replies, for revalidation with the server. In memory; cleared when the session ends. */

interface Answer {
  tag: string
  text: string
}

const MOST = 40
const answers = new Map<string, Answer>()

export const answerTo = (url: string): Answer | undefined => answers.get(url)

export function cacheAnswer(url: string, tag: string | null, text: string): void {
  answers.delete(url)
  if (tag === null) return
  answers.set(url, { tag, text })
  const [oldest] = answers.keys()
  if (answers.size > MOST && oldest !== undefined) answers.delete(oldest)
}

export const forgetAnswers = (): void => answers.clear()
