/* Consecutive performance notes of SAS 9 in the bytes of a log, as columns.
 *
 * The scanner accepts only notes that saslog_whole.py accepts, with the same figures.  It stops at any other
 * line, and Python reads that line.  It reads only content[at .. length), allocates nothing, and writes only
 * within the sizes that the caller gives (docs/design/sas-log.md).
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <string.h>

#define MISSING INT64_MIN
#define MOST_LINE 1024
#define MOST_TABLES 16
#define MOST_SPLIT 2048
#define MOST_DIGITS 14
#define ROOM_OF_A_NOTE 4608 /* 16 tables: a name of 97 bytes, two numbers of 14 digits, and 60 bytes of JSON */
#define ROOM_OF_A_NAME 64

enum { LINE, PROCEDURE, ENDED_AT, STEP_COUNT, SWITCH_COUNT, ROWS_READ, ROWS_WRITTEN, VARIABLES, MEMORY, OS_MEMORY,
       PAGE_FAULTS, PAGE_RECLAIMS, PAGE_SWAPS, VOLUNTARY, INVOLUNTARY, BLOCKS_IN, BLOCKS_OUT, WHOLES };
enum { REAL, USER, SYSTEM, UNSPLIT, TIMES };
enum { FOREIGN, UNFINISHED, FULL, DONE };

struct batch {
    int64_t capacity, count, line, reason;
    int64_t page_capacity, pages, page_size, names_size, notes_size;
    int64_t *wholes;    /* WHOLES columns of `capacity` */
    double *times;      /* TIMES columns of `capacity`; NAN is missing */
    char *names;        /* one after another; name i ends at name_ends[i] */
    int32_t *name_ends;
    char *notes;        /* JSON of StepNotes; empty if no note above names a table */
    int32_t *note_ends;
    int64_t *page_notes; /* how many notes of the batch are before this head of a page */
    int64_t *page_lines;
    char *page_text;
    int32_t *page_ends;
};

static const char *const NEEDLES[] = {"NOTE:", "ERROR", "PASS HEADER ", "day, ", "Elapsed time ", "INFO: Index ",
                                      "records created in ", "real time ", " cpu "};
#define NEEDLE_COUNT ((int)(sizeof NEEDLES / sizeof *NEEDLES))
#define WINDOW 5

static uint8_t shifts[65536]; /* by the last two bytes of a window: how far it may move (Wu and Manber 1994) */

void prepare(void)
{
    memset(shifts, WINDOW - 1, sizeof shifts);
    for (int needle = 0; needle < NEEDLE_COUNT; needle++)
        for (int place = 0; place < WINDOW - 1; place++) {
            unsigned block = (unsigned char)NEEDLES[needle][place] << 8 | (unsigned char)NEEDLES[needle][place + 1];
            uint8_t shift = (uint8_t)(WINDOW - 2 - place);
            if (shift < shifts[block])
                shifts[block] = shift;
        }
}

/* The first needle in [at, end), or end. */
static const char *next_needle(const char *at, const char *end)
{
    while (end - at >= WINDOW) {
        unsigned shift = shifts[(unsigned char)at[WINDOW - 2] << 8 | (unsigned char)at[WINDOW - 1]];
        if (shift == 0) {
            for (int needle = 0; needle < NEEDLE_COUNT; needle++) {
                size_t size = strlen(NEEDLES[needle]);
                if (*at == NEEDLES[needle][0] && (size_t)(end - at) >= size && !memcmp(at, NEEDLES[needle], size))
                    return at;
            }
            shift = 1;
        }
        at += shift;
    }
    return end;
}

static int64_t lines_in(const char *at, const char *end)
{
    int64_t count = 0;
    for (; at < end; at++)
        count += *at == '\n';
    return count;
}

/* What is left to read.  text() and blanks() move `at` only past what they found; after another function
 * returned 0, `at` may be anywhere, so callers read from a copy. */
struct cursor {
    const char *at, *end;
};

static int text(struct cursor *in, const char *wanted)
{
    size_t size = strlen(wanted);
    if ((size_t)(in->end - in->at) < size || memcmp(in->at, wanted, size))
        return 0;
    in->at += size;
    return 1;
}

static int blanks(struct cursor *in)
{
    const char *start = in->at;
    while (in->at < in->end && *in->at == ' ')
        in->at++;
    return in->at > start;
}

static int line_end(struct cursor *in)
{
    blanks(in);
    return text(in, "\n");
}

static int is_digit(char letter) { return letter >= '0' && letter <= '9'; }
static int is_first(char letter) { return (letter | 32) >= 'a' && (letter | 32) <= 'z' ? 1 : letter == '_'; }
static int is_word(char letter) { return is_first(letter) || is_digit(letter); }

/* A number of 1 to `most` digits; 0 if there are more. */
static int digits(struct cursor *in, int most, int64_t *value)
{
    const char *start = in->at;
    int64_t found = 0;
    while (in->at < in->end && is_digit(*in->at)) {
        if (in->at - start >= most)
            return 0;
        found = found * 10 + (*in->at++ - '0');
    }
    *value = found;
    return in->at > start;
}

static const double TENS[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};

/* `0.01 seconds`, `1:02.24`, `9:28:12.90`.  The result is that of Python's float(): both numbers of the
 * quotient are whole and below 2^53, so the division rounds once. */
static int clock_time(struct cursor *in, double *value)
{
    int64_t parts[3];
    int count = 0, last = 0;
    do {
        const char *part = in->at;
        if (count == 3 || !digits(in, 8, &parts[count]))
            return 0;
        last = (int)(in->at - part);
        count++;
    } while (text(in, ":"));
    if (!text(in, "."))
        return 0;
    const char *start = in->at;
    int64_t fraction;
    if (!digits(in, 6, &fraction))
        return 0;
    int size = (int)(in->at - start);
    if (count == 1) {
        *value = (double)(parts[0] * (int64_t)TENS[size] + fraction) / TENS[size];
        return text(in, " seconds");
    }
    if (size != 2 || last != 2)
        return 0;
    int64_t hundredths = 0;
    for (int part = 0; part < count; part++)
        hundredths = hundredths * 60 + parts[part] * 100;
    *value = (double)(hundredths + fraction) / 100.0;
    return 1;
}

static int kilobytes(struct cursor *in, int64_t *value)
{
    int64_t whole, fraction = 0;
    int size = 0;
    if (!digits(in, 9, &whole))
        return 0;
    if (text(in, ".")) {
        const char *start = in->at;
        if (!digits(in, 6, &fraction))
            return 0;
        size = (int)(in->at - start);
    }
    *value = (int64_t)nearbyint((double)(whole * (int64_t)TENS[size] + fraction) / TENS[size] * 1024.0);
    return text(in, "k");
}

static int two(struct cursor *in, int64_t *value)
{
    if (in->end - in->at < 2 || !is_digit(in->at[0]) || !is_digit(in->at[1]))
        return 0;
    *value = (in->at[0] - '0') * 10 + (in->at[1] - '0');
    in->at += 2;
    return 1;
}

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t days(int64_t year, int64_t month, int64_t day)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int64_t last = year - 1;
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return last * 365 + last / 4 - last / 100 + last / 400 + before[month - 1] + (leap && month > 2) + day - 719163;
}

/* MM/DD/YYYY HH:MM:SS AM|PM */
static int stamp(struct cursor *in, int64_t *value)
{
    int64_t month, day, century, year, hours, minutes, seconds;
    if (!(two(in, &month) && text(in, "/") && two(in, &day) && text(in, "/") && two(in, &century) && two(in, &year)
          && text(in, " ") && two(in, &hours) && text(in, ":") && two(in, &minutes) && text(in, ":")
          && two(in, &seconds) && text(in, " ")))
        return 0;
    int late = text(in, "P");
    if (!(late || text(in, "A")) || !text(in, "M"))
        return 0;
    year += century * 100;
    /* February 29th is left to Python. */
    static const int longest[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (year < 1960 || year > 2100 || month < 1 || month > 12 || day < 1 || day > longest[month - 1] || hours < 1
        || hours > 12 || minutes > 59 || seconds > 59)
        return 0;
    *value = days(year, month, day) * 86400 + (hours % 12 + (late ? 12 : 0)) * 3600 + minutes * 60 + seconds;
    return 1;
}

/* LIBREF.MEMBER */
static int table(struct cursor *in, const char **name, int *size)
{
    const char *start = in->at;
    for (int part = 0; part < 2; part++) {
        const char *word = in->at;
        if (in->at >= in->end || !is_first(*in->at))
            return 0;
        while (in->at < in->end && is_word(*in->at))
            in->at++;
        if (in->at - word > (part ? 64 : 32) || (!part && !text(in, ".")))
            return 0;
    }
    *name = start;
    *size = (int)(in->at - start);
    return 1;
}

/* A line of a note: a name and its figure.  If it returns 0, `value` may be changed. */
static int named(struct cursor *in, const char *name, int (*read)(struct cursor *, void *), void *value)
{
    struct cursor line = *in;
    if (!(blanks(&line) && text(&line, name) && blanks(&line) && read(&line, value) && line_end(&line)))
        return 0;
    *in = line;
    return 1;
}

static int read_clock(struct cursor *in, void *value) { return clock_time(in, value); }
static int read_memory(struct cursor *in, void *value) { return kilobytes(in, value); }
static int read_stamp(struct cursor *in, void *value) { return stamp(in, value); }
static int read_count(struct cursor *in, void *value) { return digits(in, MOST_DIGITS, value); }
static int read_switches(struct cursor *in, void *values)
{
    int64_t *both = values;
    return digits(in, MOST_DIGITS, &both[0]) && blanks(in) && text(in, "Switch Count") && blanks(in)
           && digits(in, MOST_DIGITS, &both[1]);
}

static const char *const WEEKDAYS[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
static const char *const MONTHS[] = {"January", "February", "March", "April", "May", "June", "July", "August",
                                     "September", "October", "November", "December"};

static int one_of(struct cursor *in, const char *const *words, int count)
{
    for (int word = 0; word < count; word++)
        if (text(in, words[word]))
            return 1;
    return 0;
}

/* `7     The SAS System     10:00 Friday, November 20, 2026`: the title holds letters, digits and blanks. */
static int dated_head(struct cursor *in)
{
    struct cursor line = *in;
    int64_t number, hours, minutes, day, century, year;
    text(&line, "\f");
    text(&line, " ");
    if (!digits(&line, 9, &number) || !text(&line, " "))
        return 0;
    while (line.at < line.end && line.at - in->at < 300 && (is_word(*line.at) || *line.at == ' '))
        line.at++;
    /* The title was read up to the end of the hours: go back to their first digit. */
    if (line.at >= line.end || *line.at != ':')
        return 0;
    const char *title_end = line.at;
    while (line.at > in->at && title_end - line.at < 3 && is_digit(line.at[-1]))
        line.at--;
    if (line.at == in->at || line.at[-1] != ' ')
        return 0;
    if (!(digits(&line, 2, &hours) && text(&line, ":") && two(&line, &minutes) && text(&line, " ")
          && one_of(&line, WEEKDAYS, 7) && text(&line, ", ") && one_of(&line, MONTHS, 12) && blanks(&line)
          && digits(&line, 2, &day) && text(&line, ", ") && two(&line, &century) && two(&line, &year)
          && line_end(&line)))
        return 0;
    year += century * 100;
    if (hours > 23 || minutes > 59 || day < 1 || day > 28 || year < 1960 || year > 2100)
        return 0;
    *in = line;
    return 1;
}

/* The head of a page within a note, with the line of blanks below it. */
struct head {
    const char *at, *end; /* NULL if the head has no date */
};

static int head_within(struct cursor *in, struct head *head)
{
    struct cursor line = *in;
    head->at = head->end = NULL;
    if (dated_head(&line)) {
        head->at = in->at;
        head->end = line.at - 1;
    } else if (text(&line, "\f")) {
        size_t left = (size_t)(line.end - line.at), most = left < MOST_LINE ? left : MOST_LINE;
        const char *end = memchr(line.at, '\n', most);
        if (end == NULL || memmem(line.at, (size_t)(end - line.at), "day, ", 5))
            return 0; /* Python reads dates in other forms than dated_head's */
        line.at = end + 1;
    } else
        return 0;
    if (!line_end(&line))
        return 0;
    *in = line;
    return 1;
}

struct group { /* the notes on tables above a heading; their JSON goes behind that of the notes kept */
    int tables;
    int64_t rows_read, rows_written, variables;
    char *json, *json_end;
};

static void put(struct group *into, const char *letters, size_t size)
{
    memcpy(into->json_end, letters, size);
    into->json_end += size;
}

static void put_text(struct group *into, const char *letters) { put(into, letters, strlen(letters)); }

static void put_number(struct group *into, int64_t value)
{
    char reversed[20];
    int size = 0;
    do
        reversed[size++] = (char)('0' + value % 10);
    while (value /= 10);
    while (size)
        *into->json_end++ = reversed[--size];
}

static void add(int64_t *sum, int64_t value) { *sum = *sum == MISSING ? value : *sum + value; }

/* Whether a WHERE is on the next line, or below the head of a page and a line of blanks. */
static int where_below(struct cursor line)
{
    size_t left = (size_t)(line.end - line.at), most = left < MOST_LINE ? left : MOST_LINE;
    if (!left || *line.at == 'N')
        return 0;
    const char *end = memchr(line.at, '\n', most);
    struct cursor below = line;
    if (end && (*line.at == '\f' || memmem(line.at, (size_t)(end - line.at), "day, ", 5)))
        below.at = end + 1;
    struct cursor after = below;
    if (line_end(&after))
        below = after;
    return text(&below, "  ") && (text(&below, "WHERE ") || (blanks(&below) && text(&below, "WHERE ")));
}

/* A note on the rows of one table; 0 if the line is no such note, or the group has MOST_TABLES tables. */
static int rows_line(struct cursor *in, struct group *group)
{
    struct cursor line = *in;
    const char *name;
    int size;
    int64_t rows, variables = MISSING;
    text(&line, " ");
    if (text(&line, "NOTE: There were ")) {
        if (!(digits(&line, MOST_DIGITS, &rows) && text(&line, " observations read from the data set ")
              && table(&line, &name, &size) && text(&line, ".") && line_end(&line)))
            return 0;
        if (where_below(line))
            return 0; /* Python reads what a WHERE let pass */
    } else if (!(text(&line, "NOTE: The data set ") && table(&line, &name, &size) && text(&line, " has ")
                 && digits(&line, MOST_DIGITS, &rows) && text(&line, " observations and ")
                 && digits(&line, MOST_DIGITS, &variables) && text(&line, " variables.") && line_end(&line)))
        return 0;
    if (group->tables >= MOST_TABLES || line.at - in->at > MOST_LINE)
        return 0;
    put_text(group, group->tables ? ",{\"direction\":\"" : "{\"tables\":[{\"direction\":\"");
    put_text(group, variables == MISSING ? "read" : "written");
    put_text(group, "\",\"name\":\"");
    put(group, name, (size_t)size);
    put_text(group, "\",\"rows\":");
    put_number(group, rows);
    if (variables == MISSING)
        add(&group->rows_read, rows);
    else {
        put_text(group, ",\"variables\":");
        put_number(group, variables);
        add(&group->rows_written, rows);
        add(&group->variables, variables);
    }
    put_text(group, "}");
    group->tables++;
    *in = line;
    return 1;
}

static int heading(struct cursor *in, const char **name, int *size)
{
    struct cursor line = *in;
    text(&line, " ");
    if (text(&line, "NOTE: PROCEDURE ")) {
        *name = line.at;
        while (line.at < line.end && is_word(*line.at))
            line.at++;
        *size = (int)(line.at - *name > ROOM_OF_A_NAME ? 0 : line.at - *name);
        if (*size == 0)
            return 0;
    } else if (text(&line, "NOTE: DATA statement"))
        *size = 0;
    else
        return 0;
    if (!text(&line, " used"))
        return 0;
    text(&line, " (Total process time)");
    if (!(text(&line, ":") && line_end(&line)))
        return 0;
    *in = line;
    return 1;
}

struct figures {
    int64_t wholes[WHOLES];
    double times[TIMES];
};

/* The note that is being read; `split` if a head of a page is within it. */
struct body {
    struct cursor in;
    int split;
    struct head head;
};

static int figure(struct body *body, const char *name, int (*read)(struct cursor *, void *), void *value)
{
    if (named(&body->in, name, read, value))
        return 1;
    struct cursor after = body->in;
    struct head head;
    if (body->split || !head_within(&after, &head) || !named(&after, name, read, value))
        return 0;
    body->in = after;
    body->head = head;
    return body->split = 1;
}

static int pair(struct body *body, const char *first, const char *second, int (*read)(struct cursor *, void *),
                void *one, void *other)
{
    return figure(body, first, read, one) ? figure(body, second, read, other) : -1;
}

/* The lines below a heading, to the line of blanks; 0 if saslog_whole.py would not accept them. */
static int figures(struct body *body, struct figures *found)
{
    int64_t *wholes = found->wholes;
    double *times = found->times;
    for (int field = 0; field < WHOLES; field++)
        wholes[field] = MISSING;
    for (int field = 0; field < TIMES; field++)
        times[field] = NAN;
    if (!figure(body, "real time", read_clock, &times[REAL]))
        return 0;
    figure(body, "cpu time", read_clock, &times[UNSPLIT]);
    if (!pair(body, "user cpu time", "system cpu time", read_clock, &times[USER], &times[SYSTEM]))
        return 0;
    int memory = pair(body, "memory", "OS Memory", read_memory, &wholes[MEMORY], &wholes[OS_MEMORY]);
    if (memory < 0)
        memory = pair(body, "Memory", "OS Memory", read_memory, &wholes[MEMORY], &wholes[OS_MEMORY]);
    if (!memory)
        return 0;
    figure(body, "Timestamp", read_stamp, &wholes[ENDED_AT]);
    figure(body, "Step Count", read_switches, &wholes[STEP_COUNT]);
    if (!pair(body, "Page Faults", "Page Reclaims", read_count, &wholes[PAGE_FAULTS], &wholes[PAGE_RECLAIMS]))
        return 0;
    figure(body, "Page Swaps", read_count, &wholes[PAGE_SWAPS]);
    if (!pair(body, "Voluntary Context Switches", "Involuntary Context Switches", read_count, &wholes[VOLUNTARY],
              &wholes[INVOLUNTARY]))
        return 0;
    if (!pair(body, "Block Input Operations", "Block Output Operations", read_count, &wholes[BLOCKS_IN],
              &wholes[BLOCKS_OUT]))
        return 0;
    struct cursor after = body->in;
    if (!line_end(&after)) {
        after = body->in;
        if (body->split || !head_within(&after, &body->head) || !line_end(&after))
            return 0;
        body->split = 1;
    }
    body->in = after;
    return 1;
}

static int has_room(const struct batch *out)
{
    int64_t names = out->count ? out->name_ends[out->count - 1] : 0;
    int64_t notes = out->count ? out->note_ends[out->count - 1] : 0;
    return out->count < out->capacity && out->names_size - names >= ROOM_OF_A_NAME
           && out->notes_size - notes >= ROOM_OF_A_NOTE;
}

static int keep_page(struct batch *out, const char *line, int64_t size, int64_t number)
{
    int32_t used = out->pages ? out->page_ends[out->pages - 1] : 0;
    if (out->pages >= out->page_capacity || out->page_size - used < size)
        return 0;
    memcpy(out->page_text + used, line, (size_t)size);
    out->page_notes[out->pages] = out->count;
    out->page_lines[out->pages] = number;
    out->page_ends[out->pages++] = used + (int32_t)size;
    return 1;
}

static void keep_note(struct batch *out, const struct figures *found, const char *name, int size,
                      struct group *group, int64_t line)
{
    int64_t at = out->count;
    int32_t names = at ? out->name_ends[at - 1] : 0;
    for (int field = 0; field < WHOLES; field++)
        out->wholes[field * out->capacity + at] = found->wholes[field];
    for (int field = 0; field < TIMES; field++)
        out->times[field * out->capacity + at] = found->times[field];
    out->wholes[LINE * out->capacity + at] = line;
    out->wholes[PROCEDURE * out->capacity + at] = size > 0;
    out->wholes[ROWS_READ * out->capacity + at] = group->rows_read;
    out->wholes[ROWS_WRITTEN * out->capacity + at] = group->rows_written;
    out->wholes[VARIABLES * out->capacity + at] = group->variables;
    memcpy(out->names + names, size ? name : "DATA", size ? (size_t)size : 4);
    out->name_ends[at] = names + (size ? size : 4);
    if (group->tables)
        put_text(group, "]}");
    out->note_ends[at] = (int32_t)(group->json_end - out->notes);
    out->count++;
}

/* Read notes from `at`, the beginning of line out->line.  content[length - 1] is the end of a line.
 *
 * Returns the place where it stopped, always the beginning of a line.  out->line is then the number of that
 * line, and out->reason is DONE (no needle is left), FOREIGN (Python must read this line), UNFINISHED (so few
 * bytes are left that a note may go on behind them) or FULL.
 */
int64_t scan(const char *content, int64_t length, int64_t at, struct batch *out)
{
    const char *end = content + length, *counted = content + at, *clean = counted;
    int64_t clean_line = out->line, line = out->line;
    struct cursor in = {counted, end};

    while (has_room(out)) {
        struct group group = {0, MISSING, MISSING, MISSING, NULL, NULL};
        int64_t pages = out->pages;
        group.json = group.json_end = out->notes + (out->count ? out->note_ends[out->count - 1] : 0);
        for (;;) {
            const char *needle = next_needle(in.at, end), *start = in.at;
            if (needle == end) {
                if (group.tables)
                    goto stop;
                out->line = line + lines_in(counted, end);
                out->reason = DONE;
                return length;
            }
            for (const char *back = needle; back > in.at; back--)
                if (back[-1] == '\n') {
                    start = back;
                    break;
                }
            line += lines_in(counted, start);
            counted = in.at = start;
            if (!group.tables) {
                clean = start;
                clean_line = line;
                pages = out->pages;
            }
            if (needle - start > MOST_LINE)
                goto stop;
            if (rows_line(&in, &group))
                continue;
            const char *name = NULL;
            int size = 0;
            struct body body = {in, 0, {NULL, NULL}};
            if (heading(&body.in, &name, &size)) {
                struct figures found;
                if (!figures(&body, &found) || (body.split && body.in.at - clean > MOST_SPLIT))
                    goto stop;
                const struct head *head = &body.head;
                if (head->at
                    && !keep_page(out, head->at, head->end - head->at, line + lines_in(counted, head->at)))
                    goto stop;
                keep_note(out, &found, name, size, &group, line);
                in = body.in;
                line += lines_in(counted, in.at);
                clean = counted = in.at;
                clean_line = line;
                break;
            }
            if (!dated_head(&in) || !keep_page(out, start, in.at - 1 - start, line))
                goto stop;
            continue;
        stop:
            out->pages = pages;
            out->line = clean_line;
            out->reason = end - clean <= MOST_SPLIT ? UNFINISHED : FOREIGN;
            return clean - content;
        }
    }
    out->line = clean_line;
    out->reason = FULL;
    return clean - content;
}
