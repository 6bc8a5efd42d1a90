/** What a plugin's page, and its player button, are given. Public as '@archivolt/plugin/page', in types alone. */

/** The default export of a page's module. It is called once, when its frame has been opened. */
export type Start = (page: Page) => void | Promise<void>

export interface Page {
  /** Empty: here goes what the page shows. The frame grows with it. */
  readonly root: HTMLElement
  readonly api: Api
  readonly reader: Reader
  /** What stands behind `?` in its address. */
  readonly query: Readonly<Record<string, string>>
  /** Tells of another query: a link of the page itself, Back, or `navigate`. */
  onQuery(act: (query: Readonly<Record<string, string>>) => void): void
  /** Goes to another address: `/video/abc/`, or its own with another query: `/plugin/tide/?day=2`. Links do so by themselves. */
  navigate(to: string): void
  readonly texts: Texts
  readonly components: Components
}

/** The default export of a button's module. It is called each time that the button is pressed. */
export type Press = (player: Player) => void | Promise<void>

/** What a player button is given, beside what pages have. It shows nothing but what it says. */
export interface Player extends Pick<Page, 'api' | 'reader' | 'navigate' | 'texts'> {
  readonly playing: Playing
  /** A sentence over the picture, for some seconds. */
  say(text: string): void
  /** Goes on at this second. */
  jump(seconds: number): void
}

/** When the button was pressed. */
export interface Playing {
  readonly videoId: string
  readonly title: string
  /** Seconds. */
  readonly position: number
  readonly duration: number
}

export interface Reader {
  readonly username: string
  readonly isAdmin: boolean
  readonly mayDownload: boolean
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Asks the API as its reader: routes of the page's own plugin, and those that `asks` in its manifest names. It rejects
 * with a `Refusal`.
 */
export interface Api {
  get<Reply>(path: string, query?: Query): Promise<Reply>
  post<Reply>(path: string, body?: object, query?: Query): Promise<Reply>
  put<Reply>(path: string, body: object): Promise<Reply>
  remove<Reply>(path: string, body?: object): Promise<Reply>
}

/** Why something was not answered: `message` is a sentence for people. */
export interface Refusal extends Error {
  /** As the server answered; 0: it did not. */
  readonly status: number
  readonly code: string
  /** What is wrong, by the name of the field. */
  readonly fields: Readonly<Record<string, string>>
}

/** Numbers, days and lengths of time as their reader is used to them. */
export interface Texts {
  number(value: number): string
  bytes(bytes: number): string
  /** 4981 → 1 hr 23 min */
  span(seconds: number): string
  /** 4981 → 1:23:01 */
  clock(seconds: number): string
  /** `2024-03-01` → 1 Mar 2024 */
  day(day: string): string
  /** Epoch seconds → 1 Mar 2024, 10:00 */
  moment(epochSeconds: number): string
  /** A day or epoch seconds → 3 weeks ago */
  age(when: string | number): string
}

export type Content = Node | string

export interface Row {
  title: string
  text?: string
  /** Where its title leads. */
  to?: string
  /** As the API names it, such as a video's `vid_thumb_url`. */
  picture?: string
  /** Such as buttons, at its end. */
  actions?: readonly Node[]
}

export interface FieldOptions {
  label: string
  value?: string
  type?: 'text' | 'number' | 'search' | 'url'
  hint?: string
  /** With each letter. */
  onInput?: (value: string) => void
  /** When it is left, or Enter pressed. */
  onChange?: (value: string) => void
}

export interface ChoiceOptions {
  label: string
  value: string
  choices: ReadonlyArray<{ value: string; label: string }>
  onChange: (value: string) => void
}

/** Elements in the look of the page, light and dark. Texts are shown as texts, whatever is in them. */
export interface Components {
  /** Any element: `element('p', { class: 'hint' }, 'words')`. */
  element<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    attributes?: Readonly<Record<string, string>>,
    ...content: readonly Content[]
  ): HTMLElementTagNameMap[Tag]
  heading(text: string): HTMLElement
  text(...content: readonly Content[]): HTMLElement
  /** It cannot be pressed again while what it does goes on. */
  button(
    label: string,
    act: () => void | Promise<void>,
    options?: { kind?: 'main' | 'plain' | 'quiet' | 'danger' },
  ): HTMLButtonElement
  /** To an address of the archive, such as `/video/abc/`. */
  link(label: string, to: string): HTMLElement
  field(options: FieldOptions): HTMLElement
  choice(options: ChoiceOptions): HTMLElement
  list(rows: readonly Row[]): HTMLElement
  /** A sentence on what has happened, told to screen readers too. */
  notice(text: string, kind?: 'info' | 'error'): HTMLElement
  /** Where there is nothing yet: why, and perhaps what to do. */
  empty(title: string, ...content: readonly Content[]): HTMLElement
  /** One of the archive's pictures, as the API names it. */
  picture(path: string, alternative?: string): HTMLImageElement
}
