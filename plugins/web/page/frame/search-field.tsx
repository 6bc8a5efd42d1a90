/** The search field: typing opens the search view, which shows results while the user types. */
import { Search } from 'lucide'
import { navigate, route } from '../browser/router.ts'
import { Icon } from '../parts/icon.tsx'
import { t } from '../texts/lookup.ts'

export function SearchField() {
  const isThere = route.value.path === '/search/'
  const text = isThere ? (route.value.query.get('q') ?? '') : ''
  const go = (value: string) => {
    const to = value === '' ? '/search/' : `/search/?q=${encodeURIComponent(value)}`
    navigate(to, { isReplacing: isThere })
  }
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        go(event.currentTarget.querySelector('input')!.value)
      }}
    >
      <Icon node={Search} />
      <input
        id="search"
        type="search"
        aria-label={t('search.field')}
        placeholder={t('nav.search')}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => (currentTarget.value !== '' || isThere) && go(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.preventDefault() // otherwise Chrome empties the field, and the results disappear
          event.currentTarget.blur()
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  )
}
