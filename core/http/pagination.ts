/** Turns the page number into a window, and a total into the page block of contract 4. Page sizes: config/schema.ts. */
import { MAX_WINDOW } from '../index/port.ts'

const NEIGHBOURS = 5

export interface PageWindow {
  /** As requested; 0 and 1 are the same window. */
  number: number
  from: number
  size: number
}

export interface PageBlock {
  page_size: number
  page_from: number
  prev_pages: number[]
  current_page: number
  max_hits: boolean
  params: string
  last_page: number
  next_pages: number[]
  total_hits: number
}

export function pageWindow(number: number, size: number): PageWindow {
  return { number, size, from: number <= 1 ? 0 : (number - 1) * size }
}

/** Whether the window lies past the end that every list has (contract 4). */
export const isBeyond = (page: PageWindow): boolean => page.from + page.size > MAX_WINDOW

export function pageBlock(page: PageWindow, total: number, params: string): PageBlock {
  const isFull = total >= MAX_WINDOW
  const pages = Math.ceil(Math.min(total, MAX_WINDOW) / page.size) - (isFull ? 1 : 0)
  const around = (first: number, above: number, below: number) =>
    Array.from({ length: NEIGHBOURS }, (_, step) => first + step).filter((number) => number > above && number < below)
  return {
    page_size: page.size,
    page_from: page.from,
    prev_pages: around(page.number - NEIGHBOURS, 1, page.number),
    current_page: page.number,
    max_hits: isFull,
    params,
    last_page: page.number < pages && pages > 1 ? pages : 0,
    next_pages: around(page.number + 1, 1, pages),
    total_hits: Math.min(total, MAX_WINDOW),
  }
}

/** The query without `page`, for the client to repeat. */
export function pageParams(query: string): string {
  const params = new URLSearchParams(query)
  params.delete('page')
  return params.toString()
}
