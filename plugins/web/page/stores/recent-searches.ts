/** The last searches of this account in this browser, which an empty search field offers. */
import { account } from './session.ts'
import { SEARCHES_KEY as KEY } from './unsent.ts'

const MOST = 8
const LONGEST = 200

export function recentSearches(): string[] {
  try {
    const { of, searches } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as { of?: number; searches?: unknown }
    const isOwn = of !== undefined && of === account.peek()?.id && Array.isArray(searches)
    return isOwn ? searches.filter((one): one is string => typeof one === 'string').slice(0, MOST) : []
  } catch {
    return [] // the storage is blocked, or contains something else
  }
}

export function rememberSearch(text: string): void {
  if (text === '' || text.length > LONGEST) return
  const searches = [text, ...recentSearches().filter((one) => one !== text)].slice(0, MOST)
  try {
    localStorage.setItem(KEY, JSON.stringify({ of: account.peek()?.id, searches }))
  } catch {
    return // the storage is full or blocked
  }
}

export function dropSearches(): void {
  try {
    localStorage.removeItem(KEY)
  } catch {
    return // the storage is blocked
  }
}
