/** UI components with the appearance of the page, for plugin pages. */
import type { ChoiceOptions, Components, Content, FieldOptions, Row } from './interface.ts'

const NO_ATTRIBUTES: Readonly<Record<string, string>> = {}

/**
 * @param urlOf  returns the URL of a picture of the archive
 * @param under  returns an address as used in links
 */
export function openComponents(urlOf: (path: string) => Promise<string>, under: (path: string) => string): Components {
  let made = 0
  const nextId = (): string => `made-${++made}`

  function element<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    attributes = NO_ATTRIBUTES,
    ...content: readonly Content[]
  ): HTMLElementTagNameMap[Tag] {
    const one = document.createElement(tag)
    for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value)
    one.append(...content)
    return one
  }

  const link = (label: string, to: string): HTMLElement => element('a', { class: 'link', href: under(to) }, label)

  function button(...[label, act, { kind = 'plain' } = {}]: Parameters<Components['button']>): HTMLButtonElement {
    const one = element('button', { type: 'button', class: `button ${kind}` }, label)
    one.addEventListener('click', () => {
      const work = act()
      if (!(work instanceof Promise)) return
      one.disabled = true
      void work.finally(() => (one.disabled = false))
    })
    return one
  }

  function field({ label, value = '', type = 'text', hint, onInput, onChange }: FieldOptions): HTMLElement {
    const id = nextId()
    const input = element('input', { id, type })
    input.value = value
    if (onInput) input.addEventListener('input', () => onInput(input.value))
    if (onChange) input.addEventListener('change', () => onChange(input.value))
    const whole = element('div', { class: 'field' }, element('label', { for: id }, label), input)
    if (hint !== undefined) {
      input.setAttribute('aria-describedby', `${id}-hint`)
      whole.append(element('p', { class: 'hint', id: `${id}-hint` }, hint))
    }
    return whole
  }

  function choice({ label, value, choices, onChange }: ChoiceOptions): HTMLElement {
    const id = nextId()
    const options = choices.map((one) => element('option', { value: one.value }, one.label))
    const select = element('select', { id }, ...options)
    select.value = value
    select.addEventListener('change', () => onChange(select.value))
    return element('div', { class: 'field' }, element('label', { for: id }, label), select)
  }

  function picture(path: string, alternative = ''): HTMLImageElement {
    const image = element('img', { alt: alternative })
    // If the picture cannot be loaded, its box stays empty, as everywhere on the page.
    urlOf(path).then(
      (url) => (image.src = url),
      () => undefined,
    )
    return image
  }

  function row({ title, text, to, picture: path, actions = [] }: Row): HTMLElement {
    const name = to === undefined ? element('strong', {}, title) : element('strong', {}, link(title, to))
    const words = element('div', { class: 'row-words' }, name)
    if (text !== undefined) words.append(element('p', { class: 'meta' }, text))
    return element('li', {}, ...(path === undefined ? [] : [picture(path)]), words, ...actions)
  }

  return {
    element,
    button,
    link,
    field,
    choice,
    picture,
    heading: (text) => element('h2', {}, text),
    text: (...content) => element('p', {}, ...content),
    list: (rows) => element('ul', { class: 'settings-rows' }, ...rows.map(row)),
    notice: (text, kind = 'info') =>
      element('p', { class: `notice ${kind}`, role: kind === 'error' ? 'alert' : 'status' }, text),
    empty: (title, ...content) => element('div', { class: 'state' }, element('h2', {}, title), ...content),
  }
}
