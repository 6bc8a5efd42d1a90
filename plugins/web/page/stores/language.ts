/** In which language the page speaks: the browser's, or one chosen here, which the document and the account then have. */
import { cookie, setCookie } from '../server/base.ts'
import { LANGUAGE, t } from '../texts/lookup.ts'

const COOKIE = 'av_language'
/** Chosen at the sign-in, for whoever signs in next in this tab. */
const CHOSEN = 'av_language_chosen'

const codes = (document.querySelector<HTMLMetaElement>('meta[name="archivolt-languages"]')?.content ?? '').split(' ')

/** Each in its own words; the first is the browser's. */
export const languageChoices = () => [
  { value: '', label: t('language.auto') },
  ...codes.map((value) => ({ value, label: nameOf(value) })),
]

/** What a `Select` shows at the sign-in: what the page speaks now. */
export const chosenLanguage = (): string => (cookie(COOKIE) ? LANGUAGE : '')

function nameOf(code: string): string {
  const name = new Intl.DisplayNames(code, { type: 'language' }).of(code) ?? code
  return name.slice(0, 1).toLocaleUpperCase(code) + name.slice(1)
}

/** Stored in a cookie, so that the next document has it from its first word. @returns  whether the browser accepts it */
function store(language: string): boolean {
  setCookie(COOKIE, language)
  return (cookie(COOKIE) ?? '') === language
}

/** All that is on the page was said in the other language. */
export function speak(language: string): void {
  if ((cookie(COOKIE) ?? '') !== language && store(language)) location.reload()
}

/** Before anybody has signed in. */
export function chooseForNext(language: string): void {
  try {
    sessionStorage.setItem(CHOSEN, language)
  } catch {} // shut: then the account's own comes back with it
  speak(language)
}

/** What was chosen at the sign-in: asked once. */
export function takeChosen(): string | undefined {
  try {
    const chosen = sessionStorage.getItem(CHOSEN)
    sessionStorage.removeItem(CHOSEN)
    return chosen ?? undefined
  } catch {
    return undefined
  }
}
