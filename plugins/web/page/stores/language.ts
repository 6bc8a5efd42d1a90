/** The language of the page: the browser's, or a chosen one, which is stored in a cookie and with the account. */
import { cookie, setCookie } from '../server/base.ts'
import { LANGUAGE, t } from '../texts/lookup.ts'

const COOKIE = 'av_language'
/** The language chosen at the sign-in, for the account that signs in next in this tab. */
const CHOSEN = 'av_language_chosen'

const codes = (document.querySelector<HTMLMetaElement>('meta[name="archivolt-languages"]')?.content ?? '').split(' ')

/** Each language under its own name; the first choice is the browser's language. */
export const languageChoices = () => [
  { value: '', label: t('language.auto') },
  ...codes.map((value) => ({ value, label: nameOf(value) })),
]

/** The value of the language picker at the sign-in. */
export const chosenLanguage = (): string => (cookie(COOKIE) ? LANGUAGE : '')

function nameOf(code: string): string {
  const name = new Intl.DisplayNames(code, { type: 'language' }).of(code) ?? code
  return name.slice(0, 1).toLocaleUpperCase(code) + name.slice(1)
}

/**
 * Stores the language in a cookie, so that the server sends the next document in it.
 * @returns whether the browser accepts the cookie
 */
function store(language: string): boolean {
  setCookie(COOKIE, language)
  return (cookie(COOKIE) ?? '') === language
}

/** Changes the language. The page is reloaded, because all its texts are in the previous language. */
export function speak(language: string): void {
  if ((cookie(COOKIE) ?? '') !== language && store(language)) location.reload()
}

/** For the sign-in, when the account is not known yet. */
export function chooseForNext(language: string): void {
  try {
    sessionStorage.setItem(CHOSEN, language)
  } catch {} // storage is blocked: the account's own language is used
  speak(language)
}

/** The language chosen at the sign-in; reading clears it. */
export function takeChosen(): string | undefined {
  try {
    const chosen = sessionStorage.getItem(CHOSEN)
    sessionStorage.removeItem(CHOSEN)
    return chosen ?? undefined
  } catch {
    return undefined
  }
}
